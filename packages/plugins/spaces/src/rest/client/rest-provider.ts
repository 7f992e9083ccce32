import { isIP } from "node:net";
import { requestCredential, SecretFault, secretContent } from "@virtual-workspaces/kcp/targets";
import { type Dial, hostOf, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import type { SpaceProvider, SpaceProviderType } from "../../provider/provider.ts";
import { PATHS } from "../protocol/protocol.ts";
import { RestCalls, shown } from "./rest-calls.ts";
import { restSpaces } from "./rest-spaces.ts";

/** Options of {@link restProvider}. The result of `mountedServers()` of `@virtual-workspaces/mounts` fits. */
export interface RestProviderOptions {
  /**
   * Returns the URL to connect to; an exception rejects the URL. Security: the creators of a SpaceProviderDesc and its Secret choose where
   * the manager connects to.
   * @default the URL itself, without restrictions
   */
  readonly rewrite?: (url: string, provider: string) => string;
  /**
   * Opens connections. That of `mountedServers()` rejects this machine, link-local addresses and the metadata services of clouds.
   * @default TCP to any address
   */
  readonly dial?: Dial;
  /** Whether plain HTTP is allowed for a host. Security: the network then sees the credential and all kubeconfigs. @default only for this machine */
  readonly mayAskPlain?: (host: string) => boolean;
  /** Time limit of a response, ms. @default 30000 */
  readonly timeout?: number;
  /** Longest pause in a watch before it is restarted, ms. Providers send a line every 30 s. @default 60000 */
  readonly silence?: number;
}

/**
 * Provider type for a provider in a process of its own, in any language, that implements {@link spaceProviderOpenAPI}. The Secret of a
 * SpaceProviderDesc has `url`, its base URL, and a credential: `token`, or `tls.crt` with `tls.key`. `ca.crt` is the CA certificate of the
 * provider, if the machine does not trust it. The capabilities are read when the provider is opened, and again when the Secret changes.
 *
 * The client verifies the provider's certificate, does not follow redirects, validates responses and limits them to 16 MiB. Only a 404 that
 * names the space means that it is gone; no other 404 or failure does. The provider's error messages are shown in conditions.
 *
 * @throws Error on invalid times
 */
export function restProvider(options: RestProviderOptions = {}): SpaceProviderType {
  const { rewrite, dial, mayAskPlain = isLoopback, timeout = 30_000, silence = 60_000 } = options;
  for (const [name, value] of Object.entries({ timeout, silence }))
    if (!(value >= 1 && value < 2 ** 31)) throw new Error(`invalid ${name} of restProvider: use at least 1 ms`);
  const urlOptions: UrlOptions = { rewrite, mayAskPlain };
  return {
    needsSecret: true,
    // Every user of a provider has all of its spaces, so the credential does not matter.
    place: ({ secret }) => `rest ${new URL((secret["url"] ?? "").trim()).href.replace(/\/+$/, "")}`,
    open: async ({ name, secret, signal }): Promise<SpaceProvider & AsyncDisposable> => {
      const upstream = new Upstream({ ...upstreamFromSecret(secret, name, urlOptions), ...(dial && { dial }) });
      await using opening = new AsyncDisposableStack();
      const calls = opening.use(new RestCalls({ upstream, timeout, silence }));
      const { value: status } = await calls.json("ProviderStatus", { path: PATHS.status, signal });
      if (!status.ready) throw new Error(`the provider is not ready: ${shown(status.message ?? "it gives no reason")}`);
      opening.move();
      return restSpaces(calls, status.capabilities);
    },
  };
}

/** Options that determine the URL. */
interface UrlOptions {
  readonly rewrite: ((url: string, provider: string) => string) | undefined;
  readonly mayAskPlain: (host: string) => boolean;
}

type Secret = Readonly<Record<string, string>>;
/** Keys of the Secret, the same as for Mounts. */
const KEYS = ["token", "tls.crt", "tls.key", "ca.crt"] as const;

/** Returns the URL and credential of a Secret. @throws Error that names the key, the problem and the remedy. Security: it shows no values. */
function upstreamFromSecret(
  secret: Secret,
  provider: string,
  { rewrite, mayAskPlain }: UrlOptions,
): Pick<UpstreamOptions, "url" | "tls" | "credentials"> {
  const said = (secret["url"] ?? "").trim();
  if (said === "")
    throw new Error("url: missing in the Secret: set the URL of the provider, such as https://host:port/path");
  const url = rewrite === undefined ? said : rewrite(said, provider);
  const { protocol, host } = partsOf(url);
  if (protocol !== "https:" && !mayAskPlain(host))
    throw new Error(
      "url: plain HTTP exposes the credential and kubeconfigs to the network: use https, or allow the host in the manager's options",
    );
  const { ca, credential } = contentOf(secret);
  if (credential === undefined)
    throw new Error(
      "token: the Secret has neither token nor tls.crt with tls.key: set the manager's credential for the provider",
    );
  const shown = requestCredential(credential);
  return { url, tls: ca === undefined ? {} : { ca }, credentials: { get: () => shown } };
}

function partsOf(text: string): { readonly protocol: string; readonly host: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw new Error("url: invalid URL: use the URL of the provider, which starts with https://");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new Error("url: user, password, query and fragment are not allowed: put credentials into their own keys");
  return { protocol: url.protocol, host: hostOf(url) };
}

function contentOf(secret: Secret): ReturnType<typeof secretContent> {
  const data = Object.fromEntries(
    KEYS.flatMap((key) => (secret[key] === undefined ? [] : [[key, Buffer.from(secret[key]).toString("base64")]])),
  );
  try {
    return secretContent({ apiVersion: "v1", kind: "Secret", metadata: {}, data } as never);
  } catch (error) {
    if (error instanceof SecretFault) throw new Error(error.message, { cause: error });
    throw error;
  }
}

/** Reports whether a host is always this machine, on any network. */
function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost";
}
