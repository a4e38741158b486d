<?php
// A loop as ApnsPHP has it: after each write a look for an error packet, and one at the end that waits for a second. After an error it
// connects again and goes on behind the message that was refused.

const TRIES = 3;
$setting = fn (string $name): string => getenv("APNS_EMULATOR_$name");
$tokens = array_map(fn (string $line): string => strtok($line, ' '), file($setting('TOKEN_FILE'), FILE_IGNORE_NEW_LINES));
$report = fopen($setting('REPORT'), 'w');

// Certificate and key in one file, as PHP wants them.
$bundle = tempnam(sys_get_temp_dir(), 'push');
file_put_contents($bundle, file_get_contents($setting('CERT')) . file_get_contents($setting('CERT_KEY')));
register_shutdown_function('unlink', $bundle);

function connected(callable $setting, string $bundle)
{
    $context = stream_context_create(['ssl' => ['local_cert' => $bundle, 'cafile' => $setting('CA')]]);
    for ($try = 0; $try < TRIES; $try++) {
        if ($gateway = @stream_socket_client('ssl://' . $setting('GATEWAY'), $error, $text, 10, STREAM_CLIENT_CONNECT, $context)) {
            stream_set_blocking($gateway, false);
            return $gateway;
        }
        sleep(1);
    }
    fwrite(STDERR, "no connection: $text\n");
    exit(1);
}

/** What an error packet says, if there is one within this time. */
function refused($gateway, int $seconds): ?array
{
    $read = [$gateway];
    $none = [];
    if (@stream_select($read, $none, $none, $seconds) && strlen($packet = (string) fread($gateway, 6)) === 6) {
        return unpack('Ccommand/Cstatus/Nidentifier', $packet);
    }
    return null;
}

$payload = json_encode(['aps' => ['alert' => 'Hello']]);
$queue = $tokens;
$tries = array_fill(0, count($tokens), 0);
while ($queue) {
    $gateway = connected($setting, $bundle);
    $error = null;
    foreach ($queue as $number => $token) {
        if (++$tries[$number] > TRIES) {
            fwrite($report, "$token tried too often\n");
            unset($queue[$number]);
            continue;
        }
        $message = pack('CNNnH*n', 1, $number, time() + 86400, 32, $token, strlen($payload)) . $payload;
        if (@fwrite($gateway, $message) !== strlen($message)) {
            break;
        }
        usleep(10_000);
        if ($error = refused($gateway, 0)) {
            break;
        }
    }
    if ($error ??= refused($gateway, 1)) {
        fwrite($report, "{$tokens[$error['identifier']]} status {$error['status']}\n");
        // All up to the one that was refused is done with.
        $queue = array_filter($queue, fn (int $number): bool => $number > $error['identifier'], ARRAY_FILTER_USE_KEY);
    } elseif (!feof($gateway)) {
        $queue = [];
    }
    fclose($gateway);
}
