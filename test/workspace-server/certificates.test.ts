// Files that a server presents or trusts: created if missing, and never in place of an administrator's file.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import {
  clientAuthority,
  ServiceAccountKeys,
  serviceAccountKeyFile,
  servingCertificate,
} from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";

const DAY = 24 * 60 * 60 * 1000;

describe("files of a server", () => {
  let folder: Tree;
  const file = (name: string): string => join(folder.path, name);
  const read = (name: string): string => readFileSync(file(name), "utf8");
  const modes = (): unknown =>
    readdirSync(folder.path).map((name) => `${name} ${(statSync(file(name)).mode & 0o777).toString(8)}`);
  const later = (days: number): Date => new Date(Date.now() + days * DAY);
  const message = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.catch((thrown: Error) => thrown);
    return error instanceof Error ? error.message : "none";
  };
  beforeEach(() => {
    folder = tree({});
  });
  afterEach(() => folder[Symbol.dispose]());

  describe("apiserver.crt", () => {
    const NAMES = { hosts: ["localhost"], addresses: ["127.0.0.1"] };
    const serve = (more: object = {}): ReturnType<typeof servingCertificate> =>
      servingCertificate({ dir: folder.path, ...NAMES, ...more });

    it("is created once, valid for its names, with the CA that clients verify it with", async () => {
      const { ca } = await serve();
      expect((await serve()).ca).to.equal(ca);
      expect(modes()).to.deep.equal(["apiserver.crt 644", "apiserver.key 600"]);
      const certificate = new X509Certificate(ca);
      expect(certificate.subjectAltName).to.equal("DNS:localhost, IP Address:127.0.0.1");
      expect(certificate.checkPrivateKey(createPrivateKey(read("apiserver.key")))).to.equal(true);
      const openssl = await run("openssl", [
        "verify",
        "-x509_strict",
        "-CAfile",
        file("apiserver.crt"),
        file("apiserver.crt"),
      ]);
      expect(openssl.output).to.equal(`${file("apiserver.crt")}: OK`);
    });

    it("is renewed a month before it expires, for other names, and after an interrupted start", async () => {
      const first = (await serve()).ca;
      expect((await serve({ now: later(330) })).ca).to.equal(first);
      const second = (await serve({ now: later(340) })).ca;
      expect(second).not.to.equal(first);
      const third = (await serve({ hosts: ["kcp.test"] })).ca;
      expect(new X509Certificate(third).subjectAltName).to.equal("DNS:kcp.test, IP Address:127.0.0.1");
      rmSync(file("apiserver.key"));
      expect(await message(serve({ hosts: ["kcp.test"] }))).to.equal("none");
      const key = read("apiserver.key");
      rmSync(file("apiserver.crt"));
      expect(await message(serve())).to.equal("none");
      expect(read("apiserver.key")).not.to.equal(key);
      writeFileSync(file("apiserver.key"), key);
      expect(await message(serve()), "a key whose certificate never came").to.equal("none");
      expect(read("apiserver.key")).not.to.equal(key);
    });

    it("is used unchanged if an administrator provided it, even for other names, and never replaced", async () => {
      const own = await issueCertificate({
        subject: { name: "mine", groups: [] },
        purpose: { kind: "server", hosts: ["mine.test"], addresses: [] },
        now: new Date(),
      });
      writeFileSync(file("apiserver.crt"), own.cert);
      writeFileSync(file("apiserver.key"), own.key);
      expect((await serve({ now: later(400) })).ca).to.equal(own.cert);
      rmSync(file("apiserver.key"));
      const refusal = `key in "${file("apiserver.key")}" does not match the certificate in "${file("apiserver.crt")}": put the matching key there, or remove both files`;
      expect(await message(serve())).to.equal(refusal);
      expect(read("apiserver.crt")).to.equal(own.cert);
      writeFileSync(file("apiserver.crt"), "damaged");
      expect(await message(serve())).to.equal(
        `no PEM certificate and key in "${file("apiserver.crt")}" and "${file("apiserver.key")}": restore the files, or remove both`,
      );
      expect(read("apiserver.crt")).to.equal("damaged");
    });

    it("names the file that cannot be written", async () => {
      mkdirSync(file("apiserver.key"));
      expect(await message(serve())).to.equal(`cannot write file "${file("apiserver.key")}": EISDIR`);
      const dir = file("no");
      expect(await message(serve({ dir }))).to.equal(`cannot write file "${join(dir, "apiserver.key")}": ENOENT`);
    });
  });

  describe("client-ca.crt", () => {
    it("is an RSA authority, created once, with which others certify users", async () => {
      const { ca } = await clientAuthority(folder.path);
      expect((await clientAuthority(folder.path)).ca).to.equal(ca);
      expect(modes()).to.deep.equal(["client-ca.crt 644", "client-ca.key 600"]);
      expect(read("client-ca.key")).to.match(/^-----BEGIN RSA PRIVATE KEY-----/);
      const authority = new X509Certificate(ca);
      expect([authority.ca, authority.publicKey.asymmetricKeyType]).to.deep.equal([true, "rsa"]);
      const ours = await issueCertificate(
        { subject: { name: "jane", groups: ["devs"] }, purpose: { kind: "client" }, now: new Date() },
        { cert: ca, key: read("client-ca.key") },
      );
      expect(new X509Certificate(ours.cert).verify(authority.publicKey)).to.equal(true);
      const sign = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/O=devs/CN=jane", "-days", "1"];
      const to = [
        "-CA",
        file("client-ca.crt"),
        "-CAkey",
        file("client-ca.key"),
        "-keyout",
        file("jane.key"),
        "-out",
        file("jane.crt"),
      ];
      if (!(await run("openssl", [...sign, ...to])).ok) return;
      const verified = await run("openssl", ["verify", "-CAfile", file("client-ca.crt"), file("jane.crt")]);
      expect(verified.output).to.equal(`${file("jane.crt")}: OK`);
    });

    it("is kept without its key until it expires; a damaged one is not replaced", async () => {
      const { ca } = await clientAuthority(folder.path);
      const key = read("client-ca.key");
      rmSync(file("client-ca.key"));
      expect((await clientAuthority(folder.path, later(3600))).ca).to.equal(ca);
      writeFileSync(
        file("client-ca.key"),
        (await issueCertificate({ subject: { name: "x", groups: [] }, purpose: { kind: "client" }, now: new Date() }))
          .key,
      );
      expect(await message(clientAuthority(folder.path))).to.match(
        /client-ca\.key" does not match the certificate in ".*": put the matching key there, or remove both files$/,
      );
      writeFileSync(file("client-ca.key"), "damaged");
      expect(await message(clientAuthority(folder.path))).to.match(
        /^no PEM certificate and key in ".*" and ".*": restore the files, or remove both$/,
      );
      writeFileSync(file("client-ca.key"), key);
      expect((await clientAuthority(folder.path, later(3700))).ca).not.to.equal(ca);
    });
  });

  describe("sa.key", () => {
    it("is an RSA key, created once and readable only by its owner; an existing one is never replaced", async () => {
      const pem = await serviceAccountKeyFile(file("sa.key"));
      expect(await serviceAccountKeyFile(file("sa.key"))).to.equal(pem);
      expect([modes(), read("sa.key")]).to.deep.equal([["sa.key 600"], pem]);
      expect(pem).to.match(/^-----BEGIN RSA PRIVATE KEY-----/);
      expect(new ServiceAccountKeys({ signing: pem }).signing.algorithm).to.equal("RS256");
      writeFileSync(file("sa.key"), "");
      expect(await message(serviceAccountKeyFile(file("sa.key")))).to.match(
        /sa\.key contains no PEM private key: restore it, or remove it/,
      );
      expect(read("sa.key")).to.equal("");
      rmSync(file("sa.key"));
      mkdirSync(file("sa.key"));
      expect(await message(serviceAccountKeyFile(file("sa.key")))).to.equal(
        `cannot read file "${file("sa.key")}": EISDIR`,
      );
      const none = join(folder.path, "no", "sa.key");
      expect(await message(serviceAccountKeyFile(none))).to.equal(`cannot write file "${none}": ENOENT`);
    });
  });
});
