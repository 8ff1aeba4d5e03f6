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
	"time"
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

// NewAuthority makes an authority that is valid for so long, from about now on.
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
