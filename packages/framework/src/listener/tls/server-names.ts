import { X509Certificate } from "node:crypto";

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
