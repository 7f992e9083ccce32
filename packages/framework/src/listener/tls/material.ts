import { checkName, namesIn, type Pair, readPair, readText } from "./pair.ts";
import type { SniCertificate, TlsOptions } from "./tls-options.ts";

/** All that the options of a server give at a time. */
export interface Material {
  /** For clients that ask for no name, or for none of these. */
  readonly pair: Pair;
  readonly byName: ReadonlyMap<string, Pair>;
  /** PEM, for each file with client authorities. */
  readonly clientCa: readonly string[];
}

/**
 * Reads it.
 *
 * @param caFiles those of the authenticators
 * @throws Error that names the option, and what to do about it
 */
export function readMaterial(options: TlsOptions, caFiles: readonly string[]): Material {
  const { sni = [], clientCaFile } = options;
  const own = clientCaFile === undefined ? [] : [readCa(clientCaFile, "tls.clientCaFile")];
  const clientCa = [...own, ...caFiles.map((file) => readCa(file, "caFile"))];
  return { pair: readPair(options, "tls"), byName: readByName(sni), clientCa };
}

function readCa(file: string, option: string): string {
  const pem = readText(file, option);
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`${option} ${file} holds no PEM certificate`);
  return pem;
}

/** Whether both say the same. */
export function isSame(one: Material, other: Material): boolean {
  return textOf(one) === textOf(other);
}

/** The files that it comes from. */
export function filesOf(options: TlsOptions): readonly string[] {
  const pairs = [options, ...(options.sni ?? [])].flatMap((source) =>
    "certFile" in source ? [source.certFile, source.keyFile] : [],
  );
  return options.clientCaFile === undefined ? pairs : [...pairs, options.clientCaFile];
}

/** Names that are given win over those in certificates; of two alike, the first. */
function readByName(sni: readonly SniCertificate[]): Map<string, Pair> {
  const byName = new Map<string, Pair>();
  const entries = sni.map((source, at) => ({ names: source.names, pair: readPair(source, `tls.sni[${at}]`) }));
  const given = entries.flatMap(({ names = [], pair }) =>
    names.map((name) => [checkName(name, "tls.sni"), pair] as const),
  );
  const found = entries.flatMap(({ names, pair }) =>
    names === undefined ? namesIn(pair.cert).map((name) => [name, pair] as const) : [],
  );
  for (const [name, pair] of [...given, ...found]) if (!byName.has(name)) byName.set(name, pair);
  return byName;
}

function textOf({ pair, byName, clientCa }: Material): string {
  return JSON.stringify([pair, [...byName], clientCa]);
}
