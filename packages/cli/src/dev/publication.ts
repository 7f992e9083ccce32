import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { GeneratedTls } from "@virtual-workspaces/framework/tls";
import { writePrivately } from "../process/files.ts";
import { shellWord } from "../process/programs.ts";
import { PLAIN_COLLECTIONS, type StoreChoice, withoutEffect } from "../server/store-choice.ts";
import type { DevConsole } from "./dev-console.ts";
import { ADMIN, type Context, contextsOf, GUEST, kubeconfig, mainOf } from "./dev-kubeconfig.ts";
import type { Loaded, ResourceSummary } from "./dev-messages.ts";

/** Facts of the command that stay the same across reloads. */
interface PublicationSite {
  readonly url: string;
  readonly dir: string;
  readonly credentials: GeneratedTls;
  readonly store: StoreChoice;
  readonly console: DevConsole | undefined;
}

/** Output for the user: the kubeconfig, and the lines on the terminal. */
export class Publication {
  readonly #site: PublicationSite;
  #written = "";
  #serving: Serving;

  constructor(loaded: Loaded, site: PublicationSite) {
    this.#site = site;
    this.#serving = this.#publish(loaded);
  }

  /** Returns the text after the start. @param seconds since the command started */
  ready(seconds: number): string {
    const { console: page, url } = this.#site;
    const link = page && `Console, for one sign-in as ${ADMIN.name} within an hour: ${page.link(url, ADMIN.name)}`;
    return readyText(this.#serving, { seconds, link });
  }

  /** Returns the text after a reload: views that are not ready, and the views and their store, if they differ. */
  reloaded(loaded: Loaded): string {
    const before = contentText(this.#serving);
    this.#serving = this.#publish(loaded);
    const after = contentText(this.#serving);
    return `${unreadyText(loaded)}${after === before ? "" : `\n\n${after}\n`}`;
  }

  /** Writes the kubeconfig only if its content differs: a reload keeps the context that the user selected in it. */
  #publish(loaded: Loaded): Serving {
    const { url, dir, credentials, store, console: page } = this.#site;
    const names = credentials.users
      .map(({ name }) => name)
      .filter((name) => name !== ADMIN.name && name !== GUEST.name);
    const contexts = contextsOf(loaded, url, names);
    const path = join(dir, "admin.kubeconfig");
    const text = kubeconfig({ credentials, contexts, current: contexts[0]?.name ?? "", tokens: page?.tokens });
    if (text !== this.#written) writePrivately(path, text);
    this.#written = text;
    return { url, loaded, contexts, dir, kubeconfig: path, store };
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
  /** Store that the flags select. */
  readonly store: StoreChoice;
}

/** Returns the next steps for the user, as lines to copy. */
function readyText(
  serving: Serving,
  { seconds, link }: { readonly seconds: number; readonly link: string | undefined },
): string {
  const { url, loaded, kubeconfig } = serving;
  const count = loaded.views.length;
  return [
    `Ready in ${seconds.toFixed(2)} s: ${count} ${count === 1 ? "view" : "views"} at ${url}${unreadyText(loaded)}`,
    "",
    contentText(serving),
    "",
    `export KUBECONFIG=${shellWord(kubeconfig)}`,
    ...(link === undefined ? [] : [link]),
    "",
    ...tryText(serving),
    "",
  ].join("\n");
}

/** Names the views whose requests are 503: the server logs why, and when they are ready. */
function unreadyText({ views }: Loaded): string {
  const names = views.filter(({ ready }) => !ready).map(({ name }) => name);
  return names.length === 0 ? "" : ` (${names.length} not ready yet: ${names.join(", ")})`;
}

/** Lists the views, and describes where their objects are. */
function contentText({ loaded, store }: Serving): string {
  const kept = storeText(loaded, store);
  return kept === undefined ? viewsText(loaded) : `${viewsText(loaded)}\n\n${kept}`;
}

/** Lists the views, one a line: name, path, resources. */
function viewsText({ views }: Loaded): string {
  const rows = views.map(({ name, path, resources }) => [name, path, resources.map(({ plural }) => plural).join(", ")]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd()).join("\n");
}

/** Describes where objects are stored, if a view uses the store or a flag selects one in vain. */
function storeText({ store }: Loaded, choice: StoreChoice): string | undefined {
  if (store === undefined) {
    const warning = withoutEffect(choice);
    return warning && `Warning: ${warning}`;
  }
  const kept =
    choice.engine === "memory" ? "memory: lost on reload and restart, unless --data-dir names a folder" : store.name;
  return `Views with objects in the server's store (${store.views.join(", ")}) keep them in ${kept}. ${PLAIN_COLLECTIONS}`;
}

function tryText(serving: Serving): string[] {
  const [current, guest, ...others] = serving.contexts;
  if (current === undefined)
    return ["No view has a path without its own parameters, so the kubeconfig has no context."];
  const contexts = [guest, ...others].map((context) => context?.name).join(", ");
  return [
    ...commandsText(serving, current),
    "",
    `The current context is ${current.name}, with the user ${ADMIN.name} of the group ${ADMIN.groups.join()}. Others, with --context: ${contexts}`,
    `The user ${GUEST.name} is in no group of its own (only system:authenticated): the context ${guest?.name} shows what your views let such users see.`,
  ];
}

/** Returns commands for the admin or, if the views deny that user, for another one. */
function commandsText(serving: Serving, current: Context): string[] {
  const denied = mainOf(serving.loaded)?.denied === true;
  const other = serving.contexts.find(({ user }) => user !== ADMIN.name && user !== GUEST.name);
  const context = denied ? other : current;
  const denial = `Your views deny the user ${ADMIN.name}.`;
  if (context === undefined)
    return [`${denial} For a user whom they allow, start with --user=<name>:<group>, and use --context=<name>.`];
  const resource = favourite(serving.loaded);
  const intro = denied ? `${denial} As the user ${context.user}, try:` : "Try:";
  if (!isOnPath("kubectl"))
    return [
      ...(denied ? [denial] : []),
      "kubectl is not on the PATH. With curl:",
      ...curlLines(serving, context, resource),
    ];
  const kubectl = denied ? `  kubectl --context=${shellWord(context.name)}` : "  kubectl";
  return [
    intro,
    `${kubectl} api-resources`,
    ...(resource === undefined
      ? [`${kubectl} version`]
      : [`${kubectl} explain ${resource.plural} --recursive`, `${kubectl} get ${resource.plural} --watch`]),
  ];
}

function curlLines({ dir }: Serving, { server, user }: Context, resource: ResourceSummary | undefined): string[] {
  const file = (name: string): string => shellWord(join(dir, name));
  const curl = `  curl --cacert ${file("ca.crt")} --cert ${file(`${user}.crt`)} --key ${file(`${user}.key`)}`;
  const paths =
    resource === undefined ? ["/apis", "/version"] : ["/apis", resource.path, `${resource.path}?watch=true`];
  return paths.map((path) => `${curl} '${server}${path}'`);
}

/** Returns the resource for the example: one that changes by itself, if there is one. */
function favourite(loaded: Loaded): ResourceSummary | undefined {
  const main = mainOf(loaded);
  if (main === undefined || main !== loaded.all) return main?.resources[0];
  const served = new Set(main.resources.map(({ path }) => path));
  const candidates = loaded.views.flatMap(({ resources: [first], moves }) =>
    first !== undefined && (main.denied || served.has(first.path)) ? [{ first, moves }] : [],
  );
  return (candidates.find(({ moves }) => moves) ?? candidates[0])?.first;
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
