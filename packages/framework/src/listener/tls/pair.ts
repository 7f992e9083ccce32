import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { TlsCertificate } from "./tls-options.ts";

/** A certificate with its intermediates, and its key, PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Reads a pair, from its files if it names any. @throws Error that names the option and the problem */
export function readPair(source: TlsCertificate, option: string): Pair {
  const fromFiles = "certFile" in source;
  const pair = fromFiles
    ? { cert: readText(source.certFile, `${option}.certFile`), key: readText(source.keyFile, `${option}.keyFile`) }
    : { cert: String(source.cert), key: String(source.key) };
  const [cert, key] = fromFiles ? [source.certFile, source.keyFile] : [`${option}.cert`, `${option}.key`];
  const certificate = parse(() => new X509Certificate(pair.cert), `${cert} holds no PEM certificate`);
  const privateKey = parse(() => createPrivateKey(pair.key), `${key} holds no PEM private key without a passphrase`);
  if (!certificate.checkPrivateKey(privateKey)) throw new Error(`${key} is not the key of the certificate in ${cert}`);
  return pair;
}

/** Returns the text of a file. @throws Error that names the option */
export function readText(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${option} ${file}: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}

/** OpenSSL's own errors are of no help. */
function parse<T>(read: () => T, problem: string): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(problem, { cause });
  }
}

/** Valid server name: labels, of which the first may be `*`. */
const NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** @param option option of the name @throws Error on a name that no client could send */
export function checkName(name: string, option: string): string {
  const lower = name.toLowerCase();
  if (NAME.test(lower)) return lower;
  throw new Error(`invalid ${option} name ${JSON.stringify(name)}: use a DNS name, or *. and one`);
}

/** Returns the names of a certificate: alternative names, and as in Kubernetes a common name that looks like one. */
export function namesIn(cert: string): readonly string[] {
  const { subjectAltName = "", subject = "" } = new X509Certificate(cert);
  const names = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g), ...subject.matchAll(/^CN=(.*)$/gm)];
  return [...new Set(names.map(([, name = ""]) => name.toLowerCase()))].filter((name) => NAME.test(name));
}

/** Returns the value of `byName` for a name, else for its wildcard. */
export function findByName<T>(byName: ReadonlyMap<string, T>, name: string): T | undefined {
  const lower = name.toLowerCase();
  return byName.get(lower) ?? byName.get(lower.replace(/^[^.]+/, "*"));
}
