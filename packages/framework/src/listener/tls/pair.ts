import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { TlsCertificate } from "./tls-options.ts";

/** A certificate with those that vouch for it, and its key, PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** What an option gives, read anew where it names files. @throws Error that names the option and what is wrong with it */
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

/** The text of a file. @throws Error that names the option */
export function readText(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${option} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}

/** OpenSSL's own errors say nothing that helps. */
function parse<T>(read: () => T, problem: string): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(problem, { cause });
  }
}

/** A name that clients may ask for: labels, of which the first may be `*`. */
const NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** @param option that it was given in @throws Error on a name that no client could ask for */
export function checkName(name: string, option: string): string {
  const lower = name.toLowerCase();
  if (NAME.test(lower)) return lower;
  throw new Error(`${option}: name ${JSON.stringify(name)} must be a DNS name, or *. and one`);
}

/** The names that a certificate is good for: alternative names, and as in Kubernetes a common name that looks like one. */
export function namesIn(cert: string): readonly string[] {
  const { subjectAltName = "", subject = "" } = new X509Certificate(cert);
  const names = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g), ...subject.matchAll(/^CN=(.*)$/gm)];
  return [...new Set(names.map(([, name = ""]) => name.toLowerCase()))].filter((name) => NAME.test(name));
}

/** What `byName` has for a name, else for any in its place. */
export function findByName<T>(byName: ReadonlyMap<string, T>, name: string): T | undefined {
  const lower = name.toLowerCase();
  return byName.get(lower) ?? byName.get(lower.replace(/^[^.]+/, "*"));
}
