import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Run by `apns-emulator exec`, which tells in the environment where the emulator is. */
final class SenderTest {
    private static final String TOPIC = "com.example.app";
    private static final String HELLO = "{\"aps\":{\"alert\":\"Hello\"}}";
    private static final String BAD = "17".repeat(32);
    private static final HttpClient CONSOLE = HttpClient.newHttpClient();

    private SenderTest() {
    }

    public static void main(String[] arguments) throws Exception {
        aBatchReachesEveryPhoneAndTellsWhoIsNone();
        nothingIsLost("where a connection ends with GOAWAY", "{\"goaway\":{}}");
        nothingIsLost("where a stream is refused", "{\"rstStream\":7}");
        nothingIsLost("where a connection is reset", "{\"reset\":true}");
        nothingIsLost("where a server shuts down", "{\"reason\":\"Shutdown\"}");
        nothingIsLost("where a provider token has expired", "{\"reason\":\"ExpiredProviderToken\"}");
        nothingIsLost("where a phone got too many", "{\"reason\":\"TooManyRequests\"}");
        aBusyServiceIsTold();
        System.out.println("all is well");
        System.exit(0);
    }

    private static void aBatchReachesEveryPhoneAndTellsWhoIsNone() throws Exception {
        var tokens = phones(12);
        tokens.add(BAD);
        var outcomes = sender().send(tokens, HELLO);
        same("BadDeviceToken", outcomes.remove(BAD), "a token that is none is told");
        tokens.remove(BAD);
        same(each(tokens, Sender.SENT), outcomes, "the others are sent");
        same(each(tokens, 1), accepted(), "each of them once");
    }

    /** What a good sender sends again, so that it arrives all the same. */
    private static void nothingIsLost(String where, String effect) throws Exception {
        var tokens = phones(12);
        api("POST", "/faults", "{\"name\":\"one\",\"match\":{\"interface\":\"provider\",\"token\":\"" + tokens.get(5)
            + "\"},\"when\":{\"next\":1},\"effect\":" + effect + "}");
        same(each(tokens, Sender.SENT), sender().send(tokens, HELLO), "nothing is lost " + where);
        // More than once: who is answered by nobody can't know what was sent.
        same(each(tokens, 1).keySet(), accepted().keySet(), "and every phone has it");
    }

    private static void aBusyServiceIsTold() throws Exception {
        var tokens = phones(1);
        api("POST", "/faults", "{\"name\":\"busy\",\"effect\":{\"reason\":\"ServiceUnavailable\"}}");
        same(each(tokens, "ServiceUnavailable"), sender().send(tokens, HELLO), "a service that is busy is told");
        same(1, values(api("GET", "/notifications", ""), "token").size(), "and not asked again");
    }

    private static Sender sender() throws Exception {
        var made = api("POST", "/keys", "{\"team\":\"TEAM123456\"}");
        var key = Files.createTempFile("key", ".p8");
        Files.writeString(key, values(made, "p8").get(0).replace("\\n", "\n"));
        key.toFile().deleteOnExit();
        var port = System.getenv("APNS_EMULATOR_PROVIDER").replaceFirst(".*:", "");
        return Main.sender(Map.of(
            "APNS_HOST", "https://localhost:" + port, "APNS_TOPIC", TOPIC, "APNS_CA", System.getenv("APNS_EMULATOR_CA"),
            "APNS_KEY", key.toString(), "APNS_KEY_ID", values(made, "keyId").get(0), "APNS_TEAM", "TEAM123456",
            // Java 17 now and then forgets a request while a connection is reset, and only this ends it.
            "APNS_PATIENCE", "5")::get);
    }

    /** Device tokens of this many phones, on an emulator that has seen nothing else. */
    private static List<String> phones(int count) throws IOException, InterruptedException {
        api("POST", "/reset", "{}");
        var tokens = new ArrayList<String>();
        for (int number = 0; number < count; number++) {
            tokens.addAll(values(api("POST", "/devices/phone-" + number + "/apps/" + TOPIC + "/install", "{}"), "token"));
        }
        return tokens;
    }

    /** How often a push to each device token was accepted. */
    private static Map<String, Integer> accepted() throws IOException, InterruptedException {
        var counts = new HashMap<String, Integer>();
        for (var push : api("GET", "/notifications?limit=1000", "").split("(?=\\{\"id\":)")) {
            if (push.contains("\"accepted\":true")) {
                counts.merge(values(push, "token").get(0), 1, Integer::sum);
            }
        }
        return counts;
    }

    private static String api(String method, String path, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://" + System.getenv("APNS_EMULATOR_CONSOLE") + "/api/v1" + path))
            .header("content-type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
        var answer = CONSOLE.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() >= 300) {
            throw new IOException(path + ": " + answer.body());
        }
        return answer.body();
    }

    /** The texts that a member of that name has; enough of JSON for a test. */
    private static List<String> values(String json, String name) {
        return Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json).results().map(found -> found.group(1)).toList();
    }

    private static <Value> Map<String, Value> each(List<String> tokens, Value value) {
        var all = new HashMap<String, Value>();
        tokens.forEach(token -> all.put(token, value));
        return all;
    }

    private static void same(Object expected, Object found, String what) {
        if (!expected.equals(found)) {
            System.out.println("not ok - " + what + "\nexpected " + expected + ", got " + found);
            System.exit(1);
        }
        System.out.println("ok - " + what);
    }
}
