import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

/** Signs with a token key (.p8), and keeps what it has signed for all pushes until it is old. */
final class ProviderToken {
    /** Apple refuses provider tokens that are older than an hour, and providers that make new ones more often than every 20 minutes. */
    private static final Duration LIFETIME = Duration.ofMinutes(50);

    private final PrivateKey key;
    private final String keyId;
    private final String teamId;
    private String text;
    private Instant signedAt;

    ProviderToken(String p8, String keyId, String teamId) throws GeneralSecurityException {
        var encoded = p8.replaceAll("-----[A-Z ]+-----|\\s", "");
        this.key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(encoded)));
        this.keyId = keyId;
        this.teamId = teamId;
    }

    /** The token that is good now. */
    synchronized String text() {
        var now = Instant.now();
        if (text == null || signedAt.plus(LIFETIME).isBefore(now)) {
            text = sign(now);
            signedAt = now;
        }
        return text;
    }

    /** Gives up a token that has expired, unless another push has done so already. */
    synchronized void renew(String expired) {
        if (expired.equals(text)) {
            text = null;
        }
    }

    private String sign(Instant now) {
        var unsigned = part("{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(keyId).getBytes(StandardCharsets.UTF_8))
            + "." + part("{\"iss\":\"%s\",\"iat\":%d}".formatted(teamId, now.getEpochSecond()).getBytes(StandardCharsets.UTF_8));
        try {
            var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            signature.initSign(key);
            signature.update(unsigned.getBytes(StandardCharsets.US_ASCII));
            return unsigned + "." + part(signature.sign());
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("the token key is none for ES256", error);
        }
    }

    private static String part(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
