import java.io.FileInputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** java.net.http as its documentation shows several requests: sendAsync for each, and a wait for all. */
class Batch {
    public static void main(String[] arguments) throws Exception {
        var tokens = Files.readAllLines(Path.of(setting("TOKEN_FILE"))).stream().map(line -> line.split(" ")[0]).toList();
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(trust()).build();
        var bearer = bearer();
        var host = "https://localhost:" + setting("PROVIDER").replaceFirst(".*:", "");
        try (var report = new PrintWriter(setting("REPORT"))) {
            var all = tokens.stream().map(token -> {
                var request = HttpRequest.newBuilder(URI.create(host + "/3/device/" + token))
                    .timeout(Duration.ofSeconds(30))
                    .header("authorization", "bearer " + bearer)
                    .header("apns-topic", setting("TOPIC"))
                    .header("apns-push-type", "alert")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"Hello\"}}"))
                    .build();
                return client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).handle((answer, error) -> {
                    if (error != null || answer.statusCode() != 200) {
                        report.println(token + " " + (error != null ? error.getMessage() : answer.body()));
                    }
                    return null;
                });
            }).toArray(CompletableFuture[]::new);
            CompletableFuture.allOf(all).join();
        }
        System.exit(0);
    }

    private static String setting(String name) {
        return System.getenv("APNS_EMULATOR_" + name);
    }

    private static SSLContext trust() throws Exception {
        var authorities = KeyStore.getInstance(KeyStore.getDefaultType());
        authorities.load(null, null);
        try (var pem = new FileInputStream(setting("CA"))) {
            authorities.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(authorities);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    private static String bearer() throws Exception {
        var encoder = Base64.getUrlEncoder().withoutPadding();
        var pem = Files.readString(Path.of(setting("KEY"))).replaceAll("-----[A-Z ]+-----|\\s", "");
        var key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        var unsigned = encoder.encodeToString("{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(setting("KEY_ID")).getBytes()) + "."
            + encoder.encodeToString(
                "{\"iss\":\"%s\",\"iat\":%d}".formatted(setting("TEAM"), System.currentTimeMillis() / 1000).getBytes());
        var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(unsigned.getBytes());
        return unsigned + "." + encoder.encodeToString(signature.sign());
    }
}
