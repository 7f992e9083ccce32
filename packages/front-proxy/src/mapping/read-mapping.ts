import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileCredentials } from "@virtual-workspaces/client";
import { REMOTE_HEADERS } from "@virtual-workspaces/client/http";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { CLUSTERS_PATH, checkBackend, type Mapping } from "./mapping.ts";
import { parseRoutePath } from "./route-path.ts";

const FILES = ["backend_server_ca", "proxy_client_cert", "proxy_client_key"] as const;
const TEXTS = ["path", "backend", ...FILES, "user_header", "group_header", "extra_header_prefix"] as const;
type Field = (typeof TEXTS)[number];
const FIELDS: ReadonlySet<string> = new Set([...TEXTS, "backends"]);
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/**
 * Reads a mapping file of kcp's front proxy. Entries have `path`, `backend`, `backend_server_ca`, `proxy_client_cert`,
 * `proxy_client_key`, and names of headers: `user_header`, `group_header`, `extra_header_prefix`. The list `backends` is an
 * addition to kcp's fields. Relative file names start at the working directory. The client certificate is reloaded on change.
 *
 * @throws Error with the file, the line, the fault and its remedy
 */
export function readMapping(file: string): readonly Mapping[] {
  const lines = new LineCounter();
  const document = parseDocument(read(file), { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${file}:${lines.linePos(offset).line}`;
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`${at(problem.pos[0])}: ${problem.message}`);
  const { contents } = document;
  if (!isSeq(contents))
    throw new Error(`${file}:1: not a list of mappings: begin each with - path: /clusters/, and add backend and files`);
  const seen = new Map<string, string>();
  return contents.items.map((item) => {
    const place = at((item as Node).range?.[0] ?? 0);
    if (!isMap(item)) throw new Error(`${place}: not a mapping: set path, backend and files, as in kcp's mapping file`);
    const mapping = new Entry(item, { place, at }).mapping();
    const key = mapping.path.replace(/\/+$/, "").replace(/\{[^}]*\}/g, "{}");
    const other = seen.get(key);
    if (other !== undefined)
      throw new Error(`${place}: duplicate path ${mapping.path}, first at ${other}: remove one of them`);
    seen.set(key, place);
    return mapping;
  });
}

interface EntryPosition {
  /** Position of the entry, for missing fields. */
  readonly place: string;
  readonly at: (offset: number) => string;
}

/** Entry of the file. */
class Entry {
  readonly #texts = new Map<string, { readonly text: string; readonly place: string }>();
  readonly #backends: { readonly text: string; readonly place: string }[] = [];
  readonly #place: EntryPosition;

  constructor(map: YAMLMap, place: EntryPosition) {
    this.#place = place;
    for (const { key, value } of map.items) {
      const where = place.at((key as Node).range?.[0] ?? 0);
      const name = isScalar(key) ? String(key.value) : "";
      if (!FIELDS.has(name)) throw new Error(`${where}: unknown field ${name}: use one of ${[...FIELDS].join(", ")}`);
      if (name === "backends") this.#list(value, where);
      else if (isScalar(value) && typeof value.value === "string")
        this.#texts.set(name, { text: value.value, place: where });
      else if (!isScalar(value) || value.value !== null) throw new Error(`${where}: ${name} must be a string`);
    }
  }

  mapping(): Mapping {
    const { text: path, place } = this.#given("path");
    const problem = parseRoutePath(path);
    if (typeof problem === "string") throw new Error(`${place}: path ${path}: ${problem}`);
    const ca = this.#content("backend_server_ca");
    if (!ca.text.includes("-----BEGIN CERTIFICATE-----"))
      throw new Error(`${ca.place}: backend_server_ca: ${ca.file} has no PEM certificates`);
    const [cert, key] = [this.#content("proxy_client_cert"), this.#content("proxy_client_key")];
    return {
      path,
      backends: this.#urls(path),
      tls: { ca: ca.text },
      credentials: fileCredentials({ certFile: cert.file, keyFile: key.file }),
      headers: {
        ...REMOTE_HEADERS,
        user: this.#header("user_header", REMOTE_HEADERS.user),
        group: this.#header("group_header", REMOTE_HEADERS.group),
        extraPrefix: this.#header("extra_header_prefix", REMOTE_HEADERS.extraPrefix),
      },
    };
  }

  #list(value: unknown, where: string): void {
    if (!isSeq(value) || value.items.length === 0) throw new Error(`${where}: backends must be a list of URLs`);
    for (const item of value.items) {
      if (!isScalar(item) || typeof item.value !== "string")
        throw new Error(`${where}: backends must be a list of URLs`);
      this.#backends.push({ text: item.value, place: this.#place.at(item.range?.[0] ?? 0) });
    }
  }

  /** Returns the backends; none for `/clusters/`, where they are ignored, as in kcp. */
  #urls(path: string): readonly string[] {
    const one = this.#texts.get("backend");
    if (one !== undefined && this.#backends.length > 0)
      throw new Error(`${one.place}: backend and backends exclude each other: remove one of them`);
    const all = one === undefined ? this.#backends : [one];
    if (path === CLUSTERS_PATH) return [];
    if (all.length === 0) throw new Error(`${this.#place.place}: backend is missing: set the URL of a server`);
    for (const { text, place } of all) {
      const problem = checkBackend(text);
      if (problem !== undefined) throw new Error(`${place}: ${problem}`);
    }
    return all.map(({ text }) => text);
  }

  #header(name: Field, fallback: string): string {
    const given = this.#texts.get(name);
    if (given === undefined || given.text === "") return fallback;
    if (!HEADER.test(given.text))
      throw new Error(`${given.place}: invalid ${name} ${given.text}: use the name of an HTTP header`);
    return given.text;
  }

  #given(name: Field): { readonly text: string; readonly place: string } {
    const given = this.#texts.get(name);
    if (given === undefined || given.text === "") throw new Error(`${this.#place.place}: ${name} is missing`);
    return given;
  }

  #content(name: (typeof FILES)[number]): { readonly text: string; readonly file: string; readonly place: string } {
    const { text, place } = this.#given(name);
    const file = resolve(text);
    try {
      return { text: readFileSync(file, "utf8"), file, place };
    } catch (error) {
      throw new Error(`${place}: ${name} cannot be read: ${(error as Error).message}`);
    }
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`the mapping file cannot be read: ${(error as Error).message}`);
  }
}
