import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Authorizer, deny } from "../authz/authorization.ts";
import { KUBERNETES_MINOR } from "../discovery/release.ts";
import { type AnswerFormat, accepts, parseAccept } from "../encode/representation.ts";
import { respond, respondDocument } from "../encode/respond.ts";
import { problem } from "../listener/malformed.ts";
import { defineVirtualWorkspace, templateOf, type VirtualWorkspace } from "../virtual-workspace.ts";
import type { ObservedView } from "./observer.ts";

/** Information about a program for its pages `/statusz` and `/flagz`, as in Kubernetes (`config.k8s.io/v1beta1`). */
export interface Component {
  /** Name of the program, `metadata.name` of the pages. */
  readonly name: string;
  /** Version of the program. */
  readonly version: string;
  /** Whether there is `/statusz`. @default true */
  readonly statusz?: boolean;
  /**
   * Flags of the program by name, with their values, for `/flagz`. Security: readers see every value, so leave out secrets.
   * @default no `/flagz`
   */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /**
   * Authorizes readers: called with the verb `get` and the path, as Kubernetes does for non-resource URLs. Callers are
   * authenticated as for any view.
   * @default no one may read them
   */
  readonly authorize?: Authorizer<unknown>;
}

const STATUSZ = "/statusz";
const FLAGZ = "/flagz";
const GROUP = "config.k8s.io";
const DEPRECATED = "v1alpha1";
const VERSIONS: readonly string[] = ["v1beta1", DEPRECATED];
const PATHS: readonly string[] = ["/livez", "/readyz"];
const denyAll: Authorizer<unknown> = () => deny("this server has no rule for reading the pages of the program");

/** Pages about the program. They are formatted when they are read: no one may read them for years. */
export class ComponentPages {
  /** Paths that {@link workspace} answers. */
  readonly paths: readonly string[];
  /** View of the pages, internal to the server. */
  readonly workspace: VirtualWorkspace;
  readonly #component: Component;
  readonly #otherPaths: readonly string[];
  readonly #views: () => readonly ObservedView[];

  /**
   * @param otherPaths paths of the server's other views of its own
   * @param views virtual workspaces of the server
   */
  constructor(component: Component, otherPaths: readonly string[], views: () => readonly ObservedView[]) {
    const { authorize = denyAll, statusz = true, flags } = component;
    this.paths = [...(statusz ? [STATUSZ] : []), ...(flags === undefined ? [] : [FLAGZ])];
    this.#component = component;
    this.#otherPaths = otherPaths;
    this.#views = views;
    this.workspace = defineVirtualWorkspace({
      name: "component",
      path: "/",
      authorize,
      handle: (req, res, { tail }) => this.#answer(req, res, tail),
    });
  }

  #answer(req: IncomingMessage, res: ServerResponse, path: string): void {
    if (req.method !== "GET" && req.method !== "HEAD") throw problem(405, "the page is read-only: use GET");
    const isStatus = path === STATUSZ;
    const page = isStatus ? "statusz" : "flagz";
    const form = formOf(req.headers.accept, isStatus ? "Statusz" : "Flagz");
    if (form.as === undefined) {
      const text = `\n${this.#component.name} ${page}\n${HEAD}${isStatus ? this.#statusText() : this.#flagsText()}`;
      respond(res, { code: 200, contentType: "text/plain; charset=utf-8", body: Buffer.from(text) });
      return;
    }
    const { kind, version } = form.as;
    const metadata = { name: this.#component.name };
    const content = isStatus ? this.#status() : { flags: this.#component.flags };
    const json = Buffer.from(`${JSON.stringify({ kind, apiVersion: `${GROUP}/${version}`, metadata, ...content })}\n`);
    const warning = `299 - "This version of the ${page} endpoint is deprecated. Please use a newer version."`;
    const headers = version === DEPRECATED ? { Warning: warning } : {};
    respondDocument(res, { code: 200, json, format: form.format, headers });
  }

  #status(): Status {
    const uptimeSeconds = Math.floor(process.uptime());
    return {
      startTime: new Date(Date.now() - process.uptime() * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
      uptimeSeconds,
      goVersion: `node ${process.version}`,
      binaryVersion: this.#component.version,
      emulationVersion: `1.${KUBERNETES_MINOR}`,
      paths: [...PATHS, ...this.#otherPaths, ...this.paths].sort(),
      virtualWorkspaces: this.#views()
        .map(listed)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  #statusText(): string {
    const { startTime, uptimeSeconds, goVersion, binaryVersion, emulationVersion, paths, virtualWorkspaces } =
      this.#status();
    const two = (number: number): string => String(number).padStart(2, "0");
    const [hours, minutes] = [Math.floor(uptimeSeconds / 3600), Math.floor(uptimeSeconds / 60) % 60];
    return [
      "",
      `Started: ${unixDate(new Date(startTime))}`,
      `Up: ${hours} hr ${two(minutes)} min ${two(uptimeSeconds % 60)} sec`,
      `Go version: ${goVersion}`,
      `Binary version: ${binaryVersion}`,
      `Emulation version: ${emulationVersion}`,
      `Paths: ${paths.join(" ")}`,
      ...virtualWorkspaces.map(({ name, path }) => `Virtual workspace ${name}: ${path}`),
      "",
    ].join("\n");
  }

  #flagsText(): string {
    const { flags = {} } = this.#component;
    const names = Object.keys(flags).sort();
    return names.map((name) => `${name}=${flags[name]}\n`).join("");
  }
}

const HEAD =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n";

/** Content of a `Statusz`. */
interface Status {
  readonly startTime: string;
  readonly uptimeSeconds: number;
  /** The runtime, which is no Go here. */
  readonly goVersion: string;
  readonly binaryVersion: string;
  /** Kubernetes release whose wire behavior is served. */
  readonly emulationVersion: string;
  readonly paths: readonly string[];
  /** An addition to Kubernetes' fields. */
  readonly virtualWorkspaces: readonly ListedView[];
}

interface ListedView {
  readonly name: string;
  /** Path below the server, with parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  /** Paths that lead to other servers, of a view that is no API. */
  readonly mappedPaths?: readonly string[];
}

function listed(view: ObservedView): ListedView {
  const mappedPaths = view.workspace.mappedPaths?.();
  return { name: view.name, path: templateOf(view), ...(mappedPaths && { mappedPaths }) };
}

/** Formats a date as Go's time.UnixDate, in UTC: `Sun Nov  9 12:00:00 UTC 2026`. */
function unixDate(date: Date): string {
  const [day = "", number = "", month = "", year = "", time = ""] = date.toUTCString().replace(",", "").split(" ");
  return `${day} ${month} ${String(Number(number)).padStart(2)} ${time} UTC ${year}`;
}

const TYPES = ["application/json", "application/yaml", "application/cbor", "text/plain"] as const;

interface PageForm {
  readonly format: AnswerFormat;
  /** Kind and version of a structured page. @default text */
  readonly as?: { readonly kind: string; readonly version: string };
}

/** Negotiates as Kubernetes does: a structured page only for a client that names its kind, and text otherwise. @throws ApiError 406 */
function formOf(accept: string | undefined, kind: string): PageForm {
  for (const range of parseAccept(accept))
    for (const mediaType of TYPES) {
      const [type = "", subtype = ""] = mediaType.split("/");
      if (!accepts(range, type, subtype)) continue;
      const { as = "", g, v = "" } = range.parameters;
      if (type === "text" && as === "") return { format: "json" };
      if (type !== "text" && as === kind && g === GROUP && VERSIONS.includes(v))
        return { format: subtype as AnswerFormat, as: { kind, version: v } };
    }
  throw ApiError.notAcceptable(TYPES);
}
