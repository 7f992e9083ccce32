import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";

/** Filter of an object's URLs. */
export interface EndpointUrlsOptions {
  /** Value of `type` in the list's entries. @default all entries, with or without a type */
  readonly type?: string;
}

/**
 * Returns the URLs in an object's status: `endpoints[].url` of an APIExportEndpointSlice, and `virtualWorkspaces[].url` of an
 * APIExport or a WorkspaceType. A WorkspaceType has two per shard, of `type` `initializing` and `terminating`. Select with
 * `urls: (type) => endpointUrls(type, { type: "initializing" })`.
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

/** Listed URL that is invalid. */
export interface InvalidEndpoint {
  readonly url: string;
  readonly message: string;
}

/** Desired endpoints: addresses by listed URL. */
export interface DesiredEndpoints {
  readonly addresses: ReadonlyMap<string, string>;
  readonly invalid: readonly InvalidEndpoint[];
}

/** Returns each URL once, in normalized form, with the address from `rewrite`. */
export function desiredEndpoints(urls: Iterable<string>, rewrite: (url: string) => string): DesiredEndpoints {
  const addresses = new Map<string, string>();
  const invalid: InvalidEndpoint[] = [];
  for (const listed of new Set(urls)) {
    try {
      const url = canonical(listed);
      addresses.set(url, canonical(rewrite(url)));
    } catch (error) {
      // Security: readers of reports must not see a password in a URL.
      const url = String(listed).replace(/\/\/[^/?#]*@/, "//…@");
      invalid.push({ url, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { addresses, invalid };
}

function canonical(text: string): string {
  const url = URL.parse(text);
  if (url === null) throw new Error("not a URL: use one like https://host:6443/services/apiexport/root/todo");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new Error(`invalid scheme "${url.protocol}": use https or http`);
  if (url.username !== "" || url.password !== "") throw new Error("remove user and password from the URL");
  if (url.search !== "" || url.hash !== "") throw new Error("remove query and fragment from the URL");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
