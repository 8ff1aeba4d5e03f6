package testbed

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	files       Pair
}

// Pair is a certificate and its key, in PEM. The key is a secret.
type Pair struct{ Cert, Key []byte }

// join returns both as the content of one file.
func (p Pair) join() []byte { return append(bytes.Clone(p.Cert), p.Key...) }

// backdated is how far the clock of a host may be behind that of the authority's.
const backdated = time.Hour

// NewAuthority makes an authority that is valid for so long, from about now on.
func NewAuthority(name string, now time.Time, lifetime time.Duration) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	files, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return ParseAuthority(files)
}

// ParseAuthority reads an authority.
func ParseAuthority(files Pair) (*Authority, error) {
	certificate, key, err := files.parse()
	if err != nil {
		return nil, err
	}
	if !certificate.IsCA {
		return nil, errors.New("authority: the certificate is not an authority's")
	}
	files, err = encode(certificate.Raw, key)
	return &Authority{certificate, key, files}, err
}

// Files returns what [ParseAuthority] reads; Cert is what others are to trust.
func (a *Authority) Files() Pair { return a.files }

// Until returns when the authority ends, and all that it has signed.
func (a *Authority) Until() time.Time { return a.certificate.NotAfter }

// Issue makes a certificate for a server of those names and addresses, that is valid for so
// long from about now on, and no longer than the authority.
func (a *Authority) Issue(hosts []string, now time.Time, lifetime time.Duration) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
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
	}
	if len(hosts) > 0 {
		template.Subject.CommonName = hosts[0]
	}
	return sign(template, a.certificate, key, a.key)
}

func sign(template, parent *x509.Certificate, key, by crypto.Signer) (Pair, error) {
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return Pair{}, fmt.Errorf("authority: %w", err)
	}
	return encode(raw, key)
}

func encode(certificate []byte, key crypto.Signer) (Pair, error) {
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

// parse reads a pair, whose halves must belong together. Each may stand behind others.
func (p Pair) parse() (*x509.Certificate, crypto.Signer, error) {
	raw, err := decode(p.Cert, certificateType)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("authority: %w", err)
	}
	if raw, err = decode(p.Key, keyType); err != nil {
		return nil, nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("authority: %w", err)
	}
	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok || !signer.PublicKey.Equal(certificate.PublicKey) {
		return nil, nil, errors.New("authority: the key is not the certificate's")
	}
	return certificate, signer, nil
}

// decode returns the first block of a kind.
func decode(file []byte, what string) ([]byte, error) {
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == what {
			return block.Bytes, nil
		}
	}
	return nil, fmt.Errorf("authority: no %s in PEM", what)
}
