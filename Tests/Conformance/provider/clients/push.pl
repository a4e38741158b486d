# A provider on Protocol::HTTP2, the engine below Perl's libraries, with a push certificate. No ALPN; one stream at a time.
use strict;
use warnings;
use IO::Socket::SSL;
use JSON::PP;
use Protocol::HTTP2::Client;

my $task = decode_json(do { local $/; <STDIN> });
my $tls = IO::Socket::SSL->new(
    PeerHost => 'localhost', PeerPort => $task->{port}, SSL_ca_file => $ENV{SSL_CERT_FILE},
    SSL_cert_file => $task->{certificate}, SSL_key_file => $task->{certificateKey},
) or die "no connection: $SSL_ERROR";

my $client = Protocol::HTTP2::Client->new;
my ($number, %counts) = (0);

sub push_next {
    my $device = $task->{tokens}[$number] // return $client->close;
    $client->request(
        ':method' => 'POST', ':scheme' => 'https', ':authority' => 'localhost', ':path' => "/3/device/$device",
        headers => ['apns-topic' => $task->{topic}, 'apns-push-type' => 'alert'],
        data => encode_json({ aps => { alert => "$number" } }),
        on_done => sub {
            my ($fields, $body) = @_;
            my %field = @$fields;
            $counts{ $field{':status'} == 200 ? 200 : decode_json($body)->{reason} }++;
            push_next();
        },
    );
    $number++;
}

push_next();
until ($client->shutdown) {
    while (my $frame = $client->next_frame) { print {$tls} $frame }
    last if $client->shutdown;
    sysread $tls, my $bytes, 16_384 or die 'the connection ended early';
    $client->feed($bytes);
}
print encode_json(\%counts), "\n";
