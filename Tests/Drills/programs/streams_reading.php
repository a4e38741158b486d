<?php
// PHP's streams as the better libraries used them: after each write a look for an error packet, and one at the end that waits for a
// second. After an error packet it goes on behind the push that was refused, after a write that fails with that push.

const TRIES = 3;
$setting = fn (string $name): string => getenv("APNS_EMULATOR_$name");
$queue = array_map(fn (string $line): string => strtok($line, ' '), file($setting('TOKEN_FILE'), FILE_IGNORE_NEW_LINES));
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
$tries = array_fill(0, count($queue), 0);
while ($queue) {
    $gateway = connected($setting, $bundle);
    $error = $failed = null;
    foreach ($queue as $number => $token) {
        if (++$tries[$number] > TRIES) {
            fwrite($report, "$token tried too often\n");
            unset($queue[$number]);
            continue;
        }
        $message = pack('CNNnH*n', 1, $number, time() + 86400, 32, $token, strlen($payload)) . $payload;
        $failed = @fwrite($gateway, $message) === strlen($message) ? null : $number;
        usleep(10_000);
        if (($error = refused($gateway, 0)) || $failed !== null) {
            break;
        }
    }
    if ($error ??= refused($gateway, 1)) {
        // All up to this one is done with. Status 10 is no refusal, but names the last that was taken.
        if ($error['status'] !== 10) {
            fwrite($report, "{$queue[$error['identifier']]} status {$error['status']}\n");
        }
        $failed = $error['identifier'] + 1;
    }
    $queue = array_filter($queue, fn (int $number): bool => $number >= ($failed ?? PHP_INT_MAX), ARRAY_FILTER_USE_KEY);
    fclose($gateway);
}
