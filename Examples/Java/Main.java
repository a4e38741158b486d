import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Pushes {"aps":{"alert":"Hello"}} to each device token of a file, one a line, and prints the outcome of each.
 *
 * <pre>
 * APNS_HOST     https://api.push.apple.com
 * APNS_TOPIC    the app's bundle id
 * APNS_CA       whom to trust; the system's authorities if empty
 * APNS_KEY, APNS_KEY_ID, APNS_TEAM      token key (.p8), its id and team
 * APNS_PATIENCE                         seconds to wait for an answer; 20 if empty
 * </pre>
 */
final class Main {
    private Main() {
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1) {
            System.err.println("usage: Main TOKENS");
            System.exit(2);
        }
        var tokens = Files.readAllLines(Path.of(arguments[0])).stream().filter(line -> !line.isBlank()).toList();
        var outcomes = sender(System::getenv).send(tokens, "{\"aps\":{\"alert\":\"Hello\"}}");
        outcomes.forEach((token, outcome) -> System.out.println(token + " " + outcome));
        System.exit(outcomes.values().stream().allMatch(Sender.SENT::equals) ? 0 : 1);
    }

    /** A sender of what the environment says. */
    static Sender sender(UnaryOperator<String> setting) throws IOException, GeneralSecurityException {
        var key = Files.readString(Path.of(setting.apply("APNS_KEY")));
        var token = new ProviderToken(key, setting.apply("APNS_KEY_ID"), setting.apply("APNS_TEAM"));
        var patience = setting.apply("APNS_PATIENCE");
        return new Sender(
            setting.apply("APNS_HOST"), setting.apply("APNS_TOPIC"), trust(setting.apply("APNS_CA")), token,
            Duration.ofSeconds(patience == null || patience.isEmpty() ? 20 : Long.parseLong(patience)));
    }

    /** Trusts the authority of a PEM file alone. */
    private static SSLContext trust(String file) throws IOException, GeneralSecurityException {
        if (file == null || file.isEmpty()) {
            return SSLContext.getDefault();
        }
        var authorities = KeyStore.getInstance(KeyStore.getDefaultType());
        authorities.load(null, null);
        try (var pem = Files.newInputStream(Path.of(file))) {
            authorities.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(authorities);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
