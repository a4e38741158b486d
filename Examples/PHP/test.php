<?php

// Run by `apns-emulator exec`, which tells in the environment where the emulator is.

declare(strict_types=1);

require __DIR__ . '/Gateway.php';
require __DIR__ . '/Feedback.php';

const TOPIC = 'com.example.app';
const HELLO = '{"aps":{"alert":"Hello"}}';

function api(string $method, string $path, array $body = []): array
{
    $context = stream_context_create(['http' => [
        'method' => $method, 'header' => 'Content-Type: application/json',
        'content' => $method === 'GET' ? '' : json_encode($body ?: new stdClass()),
    ]]);
    return json_decode(file_get_contents('http://' . getenv('APNS_EMULATOR_CONSOLE') . "/api/v1$path", false, $context), true);
}

function install(string $phone): string
{
    return api('POST', "/devices/$phone/apps/" . TOPIC . '/install')['token'];
}

/** Certificate and key in one file, as PHP wants them. */
function certificate(): string
{
    $made = api('POST', '/certificates', ['topics' => [TOPIC]]);
    $file = tempnam(sys_get_temp_dir(), 'push');
    file_put_contents($file, $made['certificate'] . $made['privateKey']);
    register_shutdown_function('unlink', $file);
    return $file;
}

function same(mixed $expected, mixed $actual, string $what): void
{
    if ($expected !== $actual) {
        echo "not ok - $what\n", 'expected ', json_encode($expected), ', got ', json_encode($actual), "\n";
        exit(1);
    }
    echo "ok - $what\n";
}

$certificate = certificate();
$gateway = new Gateway(getenv('APNS_EMULATOR_GATEWAY'), $certificate, getenv('APNS_EMULATOR_CA'));
$feedback = new Feedback(getenv('APNS_EMULATOR_FEEDBACK'), $certificate, getenv('APNS_EMULATOR_CA'));
$accepted = fn (): array => array_values(array_map(
    fn (array $push): string => $push['token'],
    array_filter(api('GET', '/notifications')['notifications'], fn (array $push): bool => $push['verdict']['accepted']),
));

$tokens = array_map(install(...), ['phone-1', 'phone-2', 'phone-3', 'phone-4']);
same([], $gateway->send($tokens, HELLO), 'a batch goes out without a wait');
same($tokens, $accepted(), 'each of it once, in its order');

api('POST', '/reset', ['what' => ['notifications']]);
[$wrong, $alsoWrong] = [str_repeat('17', 32), str_repeat('2a', 32)];
$batch = [$tokens[0], $wrong, $tokens[1], $tokens[2], $alsoWrong, $tokens[3]];
same([$wrong => 8, $alsoWrong => 8], $gateway->send($batch, HELLO), 'tokens that are none are told');
same($tokens, $accepted(), 'what stood behind them is sent again');

same([], $feedback->read(), 'nobody is gone');
// A phone that reports, on the next push, that its app was removed.
$phone = proc_open(['apns-emulator', 'device', '--udid', 'phone-1', '--topic', TOPIC, '--json'], [1 => ['pipe', 'w']], $pipes);
while (json_decode((string) fgets($pipes[1]), true)['event'] !== 'token') {
}
api('POST', '/devices/phone-1/apps/' . TOPIC . '/remove');
$gateway->send([$tokens[0]], HELLO);
api('POST', '/notifications/wait', ['match' => ['token' => $tokens[0], 'state' => 'discarded']]);
$gone = $feedback->read();
same([$tokens[0]], array_keys($gone), 'a token whose app is gone is told');
same(true, abs(time() - $gone[$tokens[0]]) < 60, 'with the time');
same([], $feedback->read(), 'and told once');
proc_terminate($phone);
proc_close($phone);
