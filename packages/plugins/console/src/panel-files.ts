import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import module from "node:module";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ServedPanel } from "@virtual-workspaces/framework/panel";
import { type PageRequest, panelFiles } from "@virtual-workspaces/framework/server";
import { type PageFile, pageFile, send } from "./page-files.ts";

/** A panel as it is served: its files by their paths below the folder of its module. */
interface BuiltPanel {
  /** Digest of all its files, in their URLs, so that browsers keep them. */
  readonly version: string;
  readonly files: ReadonlyMap<string, PageFile>;
}

/** A panel in the list that the page reads. URLs are relative to the page. */
interface ListedPanel extends Pick<ServedPanel, "name" | "title" | "for" | "path" | "tree"> {
  readonly module?: string;
  /** Why there is no module. */
  readonly error?: string;
}

const FOLDER = "/panels/";

/** Files of the panels of a server: `panels/<name>/<version>/<file>` below the path of the console. */
export class PanelFiles {
  /** Each with the state of its files that it was built from. */
  readonly #built = new Map<ServedPanel, { readonly state: string; readonly panel: Promise<BuiltPanel> }>();

  /**
   * Answers with a file.
   *
   * Security: only files that the server's code names are read; the path of a request is never one of the file system.
   *
   * @throws ApiError 404; 405 on a method that does not read
   */
  async answer(request: PageRequest): Promise<void> {
    const [name = "", version = "", ...rest] = request.path.slice(FOLDER.length).split("/");
    const panel = request.panels.find((one) => one.name === name);
    if (panel === undefined) throw ApiError.notFoundPath();
    const built = await this.#of(panel);
    const file = built.version === version ? built.files.get(rest.join("/")) : undefined;
    if (file === undefined) throw ApiError.notFoundPath();
    send(request, { ...file, isImmutable: true });
  }

  /** Returns the panels of a server for its page. */
  list(panels: readonly ServedPanel[]): Promise<readonly ListedPanel[]> {
    return Promise.all(
      panels.map(async (panel) => {
        const { name, title, for: subject, path, tree } = panel;
        return {
          ...{ name, title, for: subject },
          ...(path !== undefined && { path }),
          ...(tree !== undefined && { tree }),
          ...(await this.#moduleOf(panel)),
        };
      }),
    );
  }

  /** Returns the URL of a module, or the reason why it has none: the other panels work. */
  async #moduleOf(panel: ServedPanel): Promise<Pick<ListedPanel, "module" | "error">> {
    try {
      const { version, files } = await this.#of(panel);
      const [file = ""] = files.keys();
      return { module: `${FOLDER.slice(1)}${panel.name}/${version}/${file}` };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  #of(panel: ServedPanel): Promise<BuiltPanel> {
    const urls = panelFiles(panel);
    // Authors edit files of a server that runs.
    const state = urls.map(stateOf).join(" ");
    const kept = this.#built.get(panel);
    if (kept?.state === state) return kept.panel;
    const built = build(panel, urls);
    this.#built.set(panel, { state, panel: built });
    built.catch(() => this.#built.delete(panel));
    return built;
  }
}

function stateOf(url: URL): string {
  const found = statSync(fileURLToPath(url), { throwIfNoEntry: false });
  return `${found?.mtimeMs} ${found?.size}`;
}

/** @throws ApiError 503 on a file that cannot be read */
async function build({ name, module: { href } }: ServedPanel, urls: readonly URL[]): Promise<BuiltPanel> {
  const folder = new URL(".", href).href;
  const files = new Map<string, PageFile>();
  for (const url of urls) {
    const path = fileURLToPath(url);
    try {
      files.set(url.href.slice(folder.length), await pageFile(bytesOf(path, await readFile(path)), typeOf(path)));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Errors of TypeScript begin with the line, and say it nowhere else.
      const line = error instanceof SyntaxError ? /^:(\d+)$/m.exec(error.stack ?? "")?.[1] : undefined;
      throw ApiError.serviceUnavailable(
        `the panel "${name}" cannot be served: ${line === undefined ? "" : `line ${line} of ${basename(path)}: `}${why}`,
        1,
      );
    }
  }
  const version = hash("sha256", [...files].map(([file, { tag }]) => `${file} ${tag}`).join("\n"), "base64url");
  return { version: version.slice(0, 22), files };
}

const isTypeScript = (path: string): boolean => /^\.m?ts$/.test(extname(path));

const bytesOf = (path: string, bytes: Buffer): Buffer =>
  isTypeScript(path) ? Buffer.from(withoutTypes(bytes.toString("utf8"))) : bytes;

/** Removes the types of TypeScript, as Node.js does when it runs a file, without its warning that only the function is experimental. */
function withoutTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    // By name it could not be imported on versions without it, which get a sentence instead.
    return module.stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The extension that decides the media type. */
const typeOf = (path: string): string => (isTypeScript(path) || extname(path) === ".mjs" ? ".js" : extname(path));
