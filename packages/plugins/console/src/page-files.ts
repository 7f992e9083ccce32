import { hash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { PageRequest } from "@virtual-workspaces/framework/server";

/** Folder of the built page: `npm run build` makes it. It is the same for the compiled module and for its source. */
const FOLDER: string = fileURLToPath(new URL("../dist/app/", import.meta.url));
const INDEX = "/index.html";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Security: no inline code, nothing of other hosts, no frames, no forms. */
const POLICY: string = [
  "default-src 'none'",
  ...["script-src", "style-src", "connect-src", "font-src"].map((kind) => `${kind} 'self'`),
  "img-src 'self' data:",
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`),
].join("; ");

/** Headers of all answers of the console. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** A file in memory. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  readonly tag: string;
  readonly type: string;
}

const zip = promisify(gzip);

/** Files of the built page, kept in memory. */
export class PageFiles {
  /** Paths with a leading slash. */
  #paths: ReadonlySet<string> = new Set();
  readonly #files = new Map<string, Promise<PageFile>>();
  /** Time of the build that these belong to. */
  #built = 0;

  /**
   * Answers with a file; `/` is the page.
   *
   * @throws ApiError 404; 405 on a method that does not read; 503 while the page is not built
   */
  async answer(request: PageRequest): Promise<void> {
    const { path } = request;
    this.#refresh();
    const name = path === "/" ? INDEX : path;
    // Security: only names that were found in the folder are opened.
    if (!this.#paths.has(name)) throw ApiError.notFoundPath();
    send(request, { ...(await this.#file(name)), isImmutable: name.startsWith("/assets/") });
  }

  /** Finds the files of a new build. @throws ApiError 503 without one */
  #refresh(): void {
    const built = statSync(join(FOLDER, INDEX), { throwIfNoEntry: false })?.mtimeMs;
    if (built === undefined)
      throw ApiError.serviceUnavailable("the page of the console is not built: run npm run build, or wait for it", 1);
    if (built === this.#built) return;
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    this.#paths = new Set(
      found.map(({ parentPath, name }) => `/${join(parentPath, name).slice(FOLDER.length).split(sep).join("/")}`),
    );
    this.#files.clear();
    this.#built = built;
  }

  #file(name: string): Promise<PageFile> {
    let file = this.#files.get(name);
    if (file === undefined) {
      file = read(join(FOLDER, name));
      this.#files.set(name, file);
      file.catch(() => this.#files.delete(name));
    }
    return file;
  }
}

async function read(path: string): Promise<PageFile> {
  return pageFile(await readFile(path), extname(path));
}

/** Compresses a file. @param extension decides its media type, with its dot */
export async function pageFile(bytes: Buffer, extension: string): Promise<PageFile> {
  const zipped = await zip(bytes, { level: constants.Z_BEST_COMPRESSION });
  const type = TYPES[extension] ?? "application/octet-stream";
  return { bytes, zipped, type, tag: `"${hash("sha256", bytes, "base64url").slice(0, 22)}"` };
}

/** Sends a file. `isImmutable`: its URL changes with its content. @throws ApiError 405 on a method that does not read */
export function send({ req, res }: PageRequest, file: PageFile & { readonly isImmutable: boolean }): void {
  const { bytes, zipped, tag, type, isImmutable } = file;
  const { method } = req;
  if (method !== "GET" && method !== "HEAD")
    throw ApiError.methodNotAllowed({ group: "", resource: "console" }, method ?? "");
  for (const [header, value] of Object.entries(SAFE_HEADERS)) res.setHeader(header, value);
  res.setHeader("Cache-Control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  res.setHeader("ETag", tag);
  res.setHeader("Vary", "Accept-Encoding");
  if (req.headers["if-none-match"] === tag) {
    res.writeHead(304).end();
    return;
  }
  const isZipped = /\bgzip\b/.test(String(req.headers["accept-encoding"] ?? ""));
  const body = isZipped ? zipped : bytes;
  if (isZipped) res.setHeader("Content-Encoding", "gzip");
  res.setHeader("Content-Type", type);
  res.setHeader("Content-Length", body.length);
  res.writeHead(200);
  res.end(method === "HEAD" ? undefined : body);
}

/** Answers with JSON that no cache keeps. */
export function json(res: PageRequest["res"], value: unknown): void {
  res.writeHead(200, { ...SAFE_HEADERS, "Content-Type": "application/json", "Cache-Control": "no-store" });
  res.end(JSON.stringify(value));
}
