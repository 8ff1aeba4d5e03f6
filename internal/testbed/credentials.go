package testbed

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"dmebench/transport/nats"
)

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.PrivateKey
	files       Pair
}

// Pair is a certificate and its key, in PEM. The key is a secret.
type Pair struct{ Cert, Key []byte }

func (p Pair) join() []byte { return append(bytes.Clone(p.Cert), p.Key...) }

// backdated is how far the clock of a host may be behind that of the authority's.
const backdated = time.Hour

// NewAuthority makes an authority that is valid for that long, from about now on.
func NewAuthority(name string, now time.Time, lifetime time.Duration) (*Authority, error) {
	files, err := sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	if err != nil {
		return nil, err
	}
	return ParseAuthority(files)
}

// ParseAuthority reads an authority. Certificate and key may stand behind others.
func ParseAuthority(files Pair) (*Authority, error) {
	pair, err := tls.X509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	if !pair.Leaf.IsCA {
		return nil, errors.New("authority: the certificate is not an authority's")
	}
	files, err = encode(pair.Leaf.Raw, pair.PrivateKey)
	return &Authority{pair.Leaf, pair.PrivateKey, files}, err
}

// Files returns what [ParseAuthority] reads; Cert is what others are to trust.
func (a *Authority) Files() Pair { return a.files }

// Until returns when the authority ends, and all that it has signed.
func (a *Authority) Until() time.Time { return a.certificate.NotAfter }

// Issue makes a certificate for a server of those names and addresses, that is valid for so
// long from about now on, and no longer than the authority.
func (a *Authority) Issue(hosts []string, now time.Time, lifetime time.Duration) (Pair, error) {
	until := now.Add(lifetime)
	if a.Until().Before(until) {
		until = a.Until()
	}
	from := now.Add(-backdated)
	if !from.Before(until) {
		from = until.Add(-backdated)
	}
	template := &x509.Certificate{
		NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
		template.Subject.CommonName = cmp.Or(template.Subject.CommonName, h)
	}
	return sign(template, a)
}

// sign makes a key and its certificate, signed by an authority, or by itself.
func sign(template *x509.Certificate, by *Authority) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	if by == nil {
		by = &Authority{certificate: template, key: key}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	return encode(raw, key)
}

func encode(certificate []byte, key crypto.PrivateKey) (Pair, error) {
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: certificate}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: keyType, Bytes: secret}),
	}, nil
}

const (
	certificateType = "CERTIFICATE"
	keyType         = "PRIVATE KEY"
)

const tokenType = "DMEBENCH TOKEN" // of a block in PEM

// writeCredentials makes a file for [Credentials]: a token, and the authority to trust.
func writeCredentials(token string, authority []byte) []byte {
	return append(pem.EncodeToMemory(&pem.Block{Type: tokenType, Bytes: []byte(token)}), authority...)
}

const wanted = "want the file creds that 'dmebench broker' has made, credentials of NATS (.creds), or a token on a line of its own"

// Credentials fills a broker's credentials from a file. Its content says what it is: blocks in PEM,
// as [OpenFolder] writes them, in any order; a JWT with its seed, as the tools of NATS write it,
// with or without such blocks behind it; or a token.
//
// One of the blocks may be a token, and one a key. With a key, self-signed certificates are
// authorities to trust, and the others are presented; without one all are authorities. Errors say
// what to do.
func Credentials(file []byte, b *nats.Broker) error {
	const jwt, end = "-----BEGIN NATS USER JWT-----", "END USER NKEY SEED"
	blocks := file
	switch at := bytes.Index(file, []byte(jwt)); {
	case len(bytes.TrimSpace(file)) == 0:
		return errors.New("it is empty; " + wanted)
	case at >= 0:
		until := bytes.Index(file, []byte(end))
		if until < at {
			return errors.New("its seed of NATS is missing, or it is cut short; copy the whole file")
		}
		until += len(end)
		b.Creds = append(bytes.Clone(file[at:until]), "------\n"...)
		blocks = bytes.Join([][]byte{file[:at], bytes.TrimLeft(file[until:], "-")}, []byte("\n"))
	case !bytes.Contains(file, []byte("-----BEGIN ")):
		if err := b.Credentials(file); err != nil {
			return errors.New("it holds none; " + wanted)
		}
		return nil
	}
	return readBlocks(blocks, b)
}

// readBlocks reads what is in PEM.
func readBlocks(file []byte, b *nats.Broker) error {
	var certificates []*pem.Block
	begun := bytes.Count(file, []byte("-----BEGIN "))
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		begun--
		switch {
		case block.Type == certificateType:
			certificates = append(certificates, block)
		case block.Type == tokenType && b.Token != "", strings.HasSuffix(block.Type, keyType) && b.Key != nil:
			return fmt.Errorf("it holds two of %s; leave one of them out", block.Type)
		case block.Type == tokenType:
			b.Token = string(block.Bytes)
		case block.Type == keyType, block.Type == "EC "+keyType, block.Type == "RSA "+keyType:
			b.Key = pem.EncodeToMemory(block)
		default:
			return fmt.Errorf("it holds %s, which is of no use here; %s", block.Type, wanted)
		}
	}
	if begun > 0 {
		return errors.New("a block of it is damaged, or cut short; copy the whole file")
	}
	for _, block := range certificates {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("a certificate of it cannot be read: %w; copy the whole file", err)
		}
		to := &b.CA
		if b.Key != nil && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) != nil {
			to = &b.Cert
		}
		*to = append(*to, pem.EncodeToMemory(block)...)
	}
	if b.Key == nil {
		return nil
	}
	if b.Cert == nil {
		return errors.New("it holds a key, and no certificate of it to present; an authority's key stays with the broker: " +
			"give the file creds beside it")
	}
	if _, err := tls.X509KeyPair(b.Cert, b.Key); err != nil {
		return fmt.Errorf("the certificate to present, its first that has not signed itself: %w", err)
	}
	return nil
}
