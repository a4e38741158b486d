<?php

declare(strict_types=1);

/**
 * Sends batches over the binary protocol of 2009, which answers nothing but errors, and after an error drops all that was sent
 * behind the frame that it is about.
 *
 * So each batch ends with a frame without a token: the error that it provokes says that all before it were read, and there is no
 * waiting for an answer that does not come.
 */
final class Gateway
{
    private const MISSING_TOKEN = 2;
    private const SHUTDOWN = 10;

    /** @param string $address host:port, "gateway.push.apple.com:2195" while there was one */
    public function __construct(
        private readonly string $address,
        private readonly string $certificate,
        private readonly string $ca,
        private readonly float $patience = 30,
    ) {
    }

    /**
     * Sends one payload to many tokens.
     *
     * @param list<string> $tokens in hexadecimal
     * @return array<string, int> those that were refused, with the status
     */
    public function send(array $tokens, string $payload, int $lifetime = 86400, int $priority = 10): array
    {
        $refused = [];
        $next = 0;
        while ($next < count($tokens)) {
            $connection = connectWithCertificate($this->address, $this->certificate, $this->ca, $this->patience);
            for ($number = $next; $number < count($tokens); $number++) {
                fwrite($connection, self::frame($tokens[$number], $payload, $number, time() + $lifetime, $priority));
            }
            fwrite($connection, self::frame('', $payload, $number, 0, $priority));
            ['status' => $status, 'identifier' => $identifier] = self::error($connection);
            fclose($connection);
            if ($status === self::MISSING_TOKEN) {
                break;
            }
            if ($status !== self::SHUTDOWN) {
                $refused[$tokens[$identifier]] = $status;
            }
            // What came behind it was dropped.
            $next = $identifier + 1;
        }
        return $refused;
    }

    /** Command 2: items, each with a number, a length and a content. */
    private static function frame(string $token, string $payload, int $identifier, int $expiration, int $priority): string
    {
        $items = self::item(1, hex2bin($token)) . self::item(2, $payload) . self::item(3, pack('N', $identifier))
            . self::item(4, pack('N', $expiration)) . self::item(5, pack('C', $priority));
        return pack('CN', 2, strlen($items)) . $items;
    }

    private static function item(int $number, string $content): string
    {
        return pack('Cn', $number, strlen($content)) . $content;
    }

    /**
     * @param resource $connection
     * @return array{status: int, identifier: int}
     */
    private static function error($connection): array
    {
        $packet = (string) stream_get_contents($connection, 6);
        if (strlen($packet) !== 6) {
            throw new RuntimeException('the gateway ended the connection without a word: is the certificate for this environment?');
        }
        return unpack('Ccommand/Cstatus/Nidentifier', $packet);
    }
}

/** @return resource */
function connectWithCertificate(string $address, string $certificate, string $ca, float $patience)
{
    $context = stream_context_create(['ssl' => ['local_cert' => $certificate, 'cafile' => $ca]]);
    $connection = @stream_socket_client("ssl://$address", $number, $text, $patience, STREAM_CLIENT_CONNECT, $context);
    if ($connection === false) {
        throw new RuntimeException("no connection to $address: $text");
    }
    stream_set_timeout($connection, (int) $patience);
    return $connection;
}
