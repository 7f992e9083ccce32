import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { GeneratedTls } from "@virtual-workspaces/framework/tls";
import { writePrivately } from "../process/files.ts";
import { shellWord } from "../process/programs.ts";
import { ADMIN, type Context, contextsOf, GUEST, kubeconfig } from "./dev-kubeconfig.ts";
import type { Loaded, ResourceSummary } from "./dev-messages.ts";

/** Output for the user: the kubeconfig, and the lines on the terminal. */
export class Publication {
  readonly #site: { readonly url: string; readonly dir: string; readonly credentials: GeneratedTls };
  #written = "";
  #serving: Serving;

  constructor(
    loaded: Loaded,
    site: { readonly url: string; readonly dir: string; readonly credentials: GeneratedTls },
  ) {
    this.#site = site;
    this.#serving = this.#publish(loaded);
  }

  /** Returns the text after the start. @param seconds since the command started */
  ready(seconds: number): string {
    return readyText(this.#serving, seconds);
  }

  /** Returns the text after a reload: the views, if they differ. */
  reloaded(loaded: Loaded): string {
    const before = viewsText(this.#serving.loaded);
    this.#serving = this.#publish(loaded);
    const after = viewsText(loaded);
    return after === before ? "" : `\n\n${after}\n`;
  }

  /** Writes the kubeconfig only if its content differs: a reload keeps the context that the user selected in it. */
  #publish(loaded: Loaded): Serving {
    const { url, dir, credentials } = this.#site;
    const names = credentials.users
      .map(({ name }) => name)
      .filter((name) => name !== ADMIN.name && name !== GUEST.name);
    const contexts = contextsOf(loaded, url, names);
    const path = join(dir, "admin.kubeconfig");
    const text = kubeconfig({ credentials, contexts, current: contexts[0]?.name ?? "" });
    if (text !== this.#written) writePrivately(path, text);
    this.#written = text;
    return { url, loaded, contexts, dir, kubeconfig: path };
  }
}

/** Facts to show once the views are served. */
interface Serving {
  readonly url: string;
  readonly loaded: Loaded;
  readonly contexts: readonly Context[];
  /** Absolute paths of the state folder and the kubeconfig in it. */
  readonly dir: string;
  readonly kubeconfig: string;
}

/** Returns the next steps for the user, as lines to copy. */
function readyText(serving: Serving, seconds: number): string {
  const { url, loaded, kubeconfig } = serving;
  const count = loaded.views.length;
  return [
    `Ready in ${seconds.toFixed(2)} s: ${count} ${count === 1 ? "view" : "views"} at ${url}`,
    "",
    viewsText(loaded),
    "",
    ...storeText(loaded),
    `export KUBECONFIG=${shellWord(kubeconfig)}`,
    "",
    ...tryText(serving),
    "",
  ].join("\n");
}

/** Lists the views, one a line: name, path, resources. */
function viewsText({ views }: Loaded): string {
  const rows = views.map(({ name, path, resources }) => [name, path, resources.map(({ plural }) => plural).join(", ")]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd()).join("\n");
}

/** Describes where objects are stored, if a view can store any. */
function storeText({ store }: Loaded): string[] {
  if (store === undefined) return [];
  const kept =
    store === "memory"
      ? "Objects are kept in memory: lost on reload and restart, unless --data-dir names a folder for them."
      : `Objects are kept in ${store}.`;
  return [kept, ""];
}

function tryText(serving: Serving): string[] {
  const resource = favourite(serving.loaded);
  const [current, guest, ...others] = serving.contexts;
  if (current === undefined)
    return ["No view has a path without its own parameters, so the kubeconfig has no context."];
  if (!isOnPath("kubectl")) return ["kubectl is not on the PATH. With curl:", ...curlLines(serving, current, resource)];
  const contexts = [guest, ...others].map((context) => context?.name).join(", ");
  return [
    "Try:",
    "  kubectl api-resources",
    ...(resource === undefined
      ? ["  kubectl version", "  kubectl get --raw /openapi/v3"]
      : [`  kubectl explain ${resource.plural} --recursive`, `  kubectl get ${resource.plural} --watch`]),
    "",
    `The current context is ${current.name}. Others, with --context: ${contexts}`,
  ];
}

function curlLines({ dir }: Serving, { server }: Context, resource: ResourceSummary | undefined): string[] {
  const file = (name: string): string => shellWord(join(dir, name));
  const curl = `  curl --cacert ${file("ca.crt")} --cert ${file("admin.crt")} --key ${file("admin.key")}`;
  const paths =
    resource === undefined ? ["/apis", "/version"] : ["/apis", resource.path, `${resource.path}?watch=true`];
  return paths.map((path) => `${curl} '${server}${path}'`);
}

/** Returns the resource for the example: one that changes by itself, if there is one. */
function favourite({ views, all }: Loaded): ResourceSummary | undefined {
  const candidates = all === undefined ? views.slice(0, 1) : views.filter(({ resources }) => resources.length > 0);
  const moving = candidates.find(({ moves }) => moves) ?? candidates[0];
  const name = moving?.resources[0]?.path;
  return (all ?? moving)?.resources.find(({ path }) => path === name);
}

function isOnPath(program: string): boolean {
  const names = process.platform === "win32" ? [`${program}.exe`, `${program}.cmd`] : [program];
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) =>
    names.some((name) => {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return folder !== "";
      } catch {
        return false;
      }
    }),
  );
}
