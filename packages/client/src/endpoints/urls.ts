import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";

/** Which of an object's URLs are wanted. */
export interface EndpointUrlsOptions {
  /** What the list's entries say of themselves in `type`. @default any, and such as say nothing */
  readonly type?: string;
}

/**
 * The URLs in an object's status: `endpoints[].url`, as an APIExportEndpointSlice has them, and `virtualWorkspaces[].url`,
 * as an APIExport or a WorkspaceType. A WorkspaceType has two of each shard, told apart by their `type`, `initializing` and
 * `terminating`: choose with `urls: (type) => endpointUrls(type, { type: "initializing" })`.
 */
export function endpointUrls({ status }: KubeObject, { type }: EndpointUrlsOptions = {}): string[] {
  if (!isJsonObject(status)) return [];
  return [status["endpoints"], status["virtualWorkspaces"]].flatMap((list) =>
    (Array.isArray(list) ? list : []).flatMap((entry: unknown) =>
      isJsonObject(entry) && typeof entry["url"] === "string" && (type === undefined || entry["type"] === type)
        ? [entry["url"]]
        : [],
    ),
  );
}

/** A URL that was listed and cannot be followed. */
export interface InvalidEndpoint {
  readonly url: string;
  readonly message: string;
}

/** What is to be followed: listed URL to the address that is used. */
export interface DesiredEndpoints {
  readonly addresses: ReadonlyMap<string, string>;
  readonly invalid: readonly InvalidEndpoint[];
}

/** Each URL once, in the one form in which equal ones are equal, with the address that `rewrite` makes of it. */
export function desiredEndpoints(urls: Iterable<string>, rewrite: (url: string) => string): DesiredEndpoints {
  const addresses = new Map<string, string>();
  const invalid: InvalidEndpoint[] = [];
  for (const listed of new Set(urls)) {
    try {
      const url = canonical(listed);
      addresses.set(url, canonical(rewrite(url)));
    } catch (error) {
      // Reports are read by others than those who may know a password.
      const url = String(listed).replace(/\/\/[^/?#]*@/, "//…@");
      invalid.push({ url, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { addresses, invalid };
}

function canonical(text: string): string {
  const url = URL.parse(text);
  if (url === null) throw new Error("no URL: give one like https://host:6443/services/apiexport/root/todo");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new Error(`${url.protocol} is neither https nor http`);
  if (url.username !== "" || url.password !== "") throw new Error("a user or password does not belong into it");
  if (url.search !== "" || url.hash !== "") throw new Error("a query or fragment does not belong into it");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
