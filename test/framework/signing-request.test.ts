// Requests for certificates: of whose key they are, and what of them counts.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { issueCertificate, type KeyPair, newSigningRequest, signRequest } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";

const HOUR = 60 * 60 * 1000;

describe("a request for a certificate", () => {
  let authority: KeyPair;
  const now = new Date("2026-11-23T12:00:00Z");
  const terms = {
    subject: { name: "them", groups: ["ops"] },
    purpose: { kind: "client", uris: ["urn:example:a:b"] },
    now,
    lifetime: 2 * HOUR,
  } as const;

  before(async () => {
    authority = await issueCertificate({ subject: { name: "ca", groups: [] }, purpose: { kind: "authority" }, now });
  });

  it("is answered with what the authority says, for the key of the request, for as long as it says", async () => {
    const { request, key } = await newSigningRequest({ name: "root", groups: ["system:masters"] });
    const certificate = new X509Certificate((await signRequest(request, terms, authority)) ?? "");
    const ca = new X509Certificate(authority.cert);
    expect(certificate.checkIssued(ca) && certificate.verify(ca.publicKey)).to.equal(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).to.equal(true);
    expect(certificate.subject).to.equal("O=ops\nCN=them");
    expect(certificate.subjectAltName).to.equal("URI:urn:example:a:b");
    expect(certificate.validFromDate.getTime()).to.equal(now.getTime() - HOUR);
    expect(certificate.validToDate.getTime()).to.equal(now.getTime() + 2 * HOUR);
  });

  it("is none that was signed by another key, or changed, or something else", async () => {
    const { request } = await newSigningRequest({ name: "a", groups: [] });
    const der = Buffer.from(request.replace(/-----[^-]+-----/g, ""), "base64");
    der[der.length - 5] = (der[der.length - 5] ?? 0) ^ 1;
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    for (const text of [forged, "", "nonsense", authority.cert, authority.key])
      expect(await signRequest(text, terms, authority)).to.equal(undefined);
  });
});
