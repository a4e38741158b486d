import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;

/** Pushes over HTTP/2 with a provider token. */
final class Sender {
    /** The outcome of a push that was accepted. Any other is Apple's reason, or what became of the connection. */
    static final String SENT = "sent";

    /** Pushes that are under way at a time. */
    private static final int WIDTH = 50;
    /** How often a push is tried whose answer did not come, and the pause after the first time, which doubles. */
    private static final int TRIES = 5;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Pattern REASON = Pattern.compile("\"reason\"\\s*:\\s*\"(\\w+)\"");

    private final String host;
    private final String topic;
    private final SSLContext trust;
    private final ProviderToken token;
    private final Duration patience;
    private HttpClient client;

    /** Takes the host, such as https://api.push.apple.com, the app's bundle id, whom to trust, and how long to wait for an answer. */
    Sender(String host, String topic, SSLContext trust, ProviderToken token, Duration patience) {
        this.host = host;
        this.topic = topic;
        this.trust = trust;
        this.token = token;
        this.patience = patience;
    }

    /** Pushes one payload to many device tokens, and answers the outcome of each. */
    Map<String, String> send(List<String> devices, String payload) throws InterruptedException {
        var outcomes = new LinkedHashMap<String, String>();
        if (devices.isEmpty()) {
            return outcomes;
        }
        // The first push opens the connection: many at once would open one each.
        outcomes.put(devices.get(0), push(devices.get(0), payload));
        ExecutorService workers = Executors.newFixedThreadPool(WIDTH);
        try {
            List<Callable<String>> others = devices.stream().skip(1)
                .<Callable<String>>map(device -> () -> push(device, payload)).toList();
            var results = workers.invokeAll(others);
            for (int number = 0; number < results.size(); number++) {
                outcomes.put(devices.get(number + 1), result(results.get(number)));
            }
        } finally {
            workers.shutdown();
        }
        return outcomes;
    }

    private static String result(Future<String> push) throws InterruptedException {
        try {
            return push.get();
        } catch (ExecutionException error) {
            return String.valueOf(error.getCause());
        }
    }

    /** Tries again where that may help at once or soon. 500 and 503 are told: Apple asks to come back after a quarter of an hour. */
    private String push(String device, String payload) throws InterruptedException {
        String outcome = null;
        var pause = FIRST_PAUSE;
        for (int tried = 0; tried < TRIES; tried++) {
            var bearer = token.text();
            var client = connected();
            try {
                outcome = request(client, device, payload, bearer);
            } catch (IOException error) {
                // Sent, or not: nobody knows. A collapse id would make a second one harmless.
                outcome = error.toString();
                leave(client, error);
                if (isFull(error)) {
                    // It was not sent. There is room when another is answered.
                    tried--;
                    Thread.sleep(FIRST_PAUSE.toMillis());
                    continue;
                }
            }
            switch (outcome) {
                case "Shutdown" -> {
                    // One server of many stops: the next connection is to another.
                    leave(client, null);
                    continue;
                }
                case "ExpiredProviderToken" -> {
                    token.renew(bearer);
                    continue;
                }
                default -> {
                    boolean isAnswer = outcome.matches("\\w+");
                    if (isAnswer && !outcome.equals("TooManyRequests") && !outcome.equals("TooManyProviderTokenUpdates")) {
                        return outcome;
                    }
                }
            }
            Thread.sleep(pause.toMillis());
            pause = pause.multipliedBy(2);
        }
        return outcome;
    }

    /** The server allows no more streams now: the client does not wait for one to end, but says so. */
    private static boolean isFull(IOException error) {
        return String.valueOf(error.getMessage()).contains("too many concurrent streams");
    }

    /** Answers SENT or Apple's reason. */
    private String request(HttpClient client, String device, String payload, String bearer) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(host + "/3/device/" + device))
            .timeout(patience)
            .header("authorization", "bearer " + bearer)
            .header("apns-topic", topic)
            .header("apns-push-type", "alert")
            .POST(HttpRequest.BodyPublishers.ofString(payload))
            .build();
        var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() == 200) {
            return SENT;
        }
        var reason = REASON.matcher(answer.body());
        return reason.find() ? reason.group(1) : "status" + answer.statusCode();
    }

    /** The client that all pushes share: one connection. */
    private synchronized HttpClient connected() {
        if (client == null) {
            client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(trust).connectTimeout(patience).build();
        }
        return client;
    }

    /** Makes the next push open a new connection. A client would go on with one that is dead, which only a timeout tells. */
    private synchronized void leave(HttpClient left, IOException error) {
        if (left == client && (error == null || error instanceof HttpTimeoutException)) {
            client = null;
        }
    }
}
