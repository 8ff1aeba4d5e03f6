package testbed

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"dmebench/transport/nats"
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
