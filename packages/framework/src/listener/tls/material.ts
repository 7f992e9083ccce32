import { checkName, namesIn, type Pair, readPair, readText } from "./pair.ts";
import type { SniCertificate, TlsOptions } from "./tls-options.ts";

/** Current contents of all TLS options. */
export interface Material {
  /** Pair for clients that send no name, or an unknown one. */
  readonly pair: Pair;
  readonly byName: ReadonlyMap<string, Pair>;
  /** PEM, for each file with client authorities. */
  readonly clientCa: readonly string[];
}

/**
 * Reads all files.
 *
 * @param caFiles client authorities of the authenticators
 * @throws Error that names the option and the fix
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

/** Whether both are equal. */
export function isSame(one: Material, other: Material): boolean {
  return textOf(one) === textOf(other);
}

/** Returns the files behind the options. */
export function filesOf(options: TlsOptions): readonly string[] {
  const pairs = [options, ...(options.sni ?? [])].flatMap((source) =>
    "certFile" in source ? [source.certFile, source.keyFile] : [],
  );
  return options.clientCaFile === undefined ? pairs : [...pairs, options.clientCaFile];
}

/** Explicit names win over those in certificates; of two equal ones, the first. */
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
