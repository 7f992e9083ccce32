// Why: the site is files, and browsers load its scripts over HTTP only. It is served on loopback, below any path.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = /** @type {Record<string, string>} */ ({
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
});

/** The file of the site for a request, or undefined. @param {string} url @param {string} base */
function fileOf(url, base) {
  try {
    const path = decodeURIComponent(new URL(url, "http://127.0.0.1").pathname);
    const below = path.startsWith(base) ? normalize(path.slice(base.length)) : "..";
    if (below.startsWith("..") || below.includes("\0")) return undefined;
    return below === "." || below.endsWith("/") ? join(below, "index.html") : below;
  } catch {
    return undefined; // no URL, or a wrong escape
  }
}

/**
 * Serves the site in `folder` at 127.0.0.1, below the path `base`, which begins and ends with a slash.
 *
 * @param {{ folder: string, port: number, base?: string }} options port 0: any that is free
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serveSite({ folder, port, base = "/" }) {
  const server = createServer(async ({ method, url = "/" }, response) => {
    const file = fileOf(url, base);
    const content = file === undefined ? undefined : await readFile(join(folder, file)).catch(() => undefined);
    const shown = file === undefined || content === undefined ? "404.html" : file;
    const body = content ?? (await readFile(join(folder, shown)).catch(() => "Page not found"));
    response.writeHead(shown === file ? 200 : 404, {
      "Content-Type": TYPES[extname(shown)] ?? "application/octet-stream",
    });
    response.end(method === "HEAD" ? undefined : body);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined));
  });
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}${base}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
