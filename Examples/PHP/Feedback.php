<?php

declare(strict_types=1);

require_once __DIR__ . '/Gateway.php';

/**
 * Tells which apps are gone: each token once, as the service forgets what it has told.
 */
final class Feedback
{
    private const HEAD = 6;

    public function __construct(
        private readonly string $address,
        private readonly string $certificate,
        private readonly string $ca,
        private readonly float $patience = 30,
    ) {
    }

    /** @return array<string, int> tokens in hexadecimal, with the UNIX time at which their app was found gone */
    public function read(): array
    {
        $connection = connectWithCertificate($this->address, $this->certificate, $this->ca, $this->patience);
        $gone = [];
        while (strlen($head = (string) stream_get_contents($connection, self::HEAD)) === self::HEAD) {
            ['time' => $time, 'length' => $length] = unpack('Ntime/nlength', $head);
            $gone[bin2hex(stream_get_contents($connection, $length))] = $time;
        }
        fclose($connection);
        return $gone;
    }
}
