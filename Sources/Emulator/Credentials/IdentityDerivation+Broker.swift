import Broker
import Credentials

extension IdentityDerivation: TokenDerivation {}
