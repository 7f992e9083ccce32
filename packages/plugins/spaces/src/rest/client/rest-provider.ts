import { isIP } from "node:net";
import { requestCredential, SecretFault, secretContent } from "@virtual-workspaces/kcp/targets";
import { type Dial, hostOf, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import type { SpaceProvider, SpaceProviderType } from "../../provider/provider.ts";
import { PATHS } from "../protocol/protocol.ts";
import { RestCalls, shown } from "./rest-calls.ts";
import { restSpaces } from "./rest-spaces.ts";

/** What {@link restProvider} is given. What `mountedServers()` of `@virtual-workspaces/mounts` gives fits in it. */
export interface RestProviderOptions {
  /**
   * Where a URL is reached from here; what it throws refuses it. Whoever makes a SpaceProviderDesc and a Secret says where the manager connects to.
   * @default the URL itself, whatever it is
   */
  readonly rewrite?: (url: string, provider: string) => string;
  /** Makes the connections: that of `mountedServers()` makes none to this machine, its links, or where clouds give out credentials. @default anywhere, by TCP */
  readonly dial?: Dial;
  /** Whether a host may be asked by plain http: then whoever is on the way has the credential, and all kubeconfigs. @default this machine alone */
  readonly mayAskPlain?: (host: string) => boolean;
  /** How long an answer may take, ms. @default 30000 */
  readonly timeout?: number;
  /** How long a watch may say nothing before it is begun again, ms: providers say something every 30 s. @default 60000 */
  readonly silence?: number;
}

/**
 * A provider in a process of its own, in any language, which answers as {@link spaceProviderOpenAPI} says. The Secret of a SpaceProviderDesc has `url`, where that is
 * below, and who asks: `token`, or `tls.crt` with `tls.key`; `ca.crt` is who has certified the provider, if not one whom the machine trusts. What the provider is able to do is asked for
 * when it is opened, and again when the Secret changes.
 *
 * Its certificate is verified, no redirect is followed, and what it says is believed as far as it is well-formed, and no longer than 16 MiB. That a space is gone it has to say
 * in as many words: no other 404, and no failure, is taken for that. What it says of why it cannot do something is told in conditions.
 *
 * @throws Error on times that are none
 */
export function restProvider(options: RestProviderOptions = {}): SpaceProviderType {
  const { rewrite, dial, mayAskPlain = isLoopback, timeout = 30_000, silence = 60_000 } = options;
  for (const [name, value] of Object.entries({ timeout, silence }))
    if (!(value >= 1 && value < 2 ** 31)) throw new Error(`${name} of restProvider: give milliseconds, 1 at least`);
  const urlOptions: UrlOptions = { rewrite, mayAskPlain };
  return {
    needsSecret: true,
    open: async ({ name, secret, signal }): Promise<SpaceProvider & AsyncDisposable> => {
      const upstream = new Upstream({ ...upstreamFromSecret(secret, name, urlOptions), ...(dial && { dial }) });
      await using opening = new AsyncDisposableStack();
      const calls = opening.use(new RestCalls({ upstream, timeout, silence }));
      const { value: status } = await calls.json("ProviderStatus", { path: PATHS.status, signal });
      if (!status.ready)
        throw new Error(`the provider is not ready: ${shown(status.message ?? "it does not say why")}`);
      opening.move();
      return restSpaces(calls, status.capabilities);
    },
  };
}

/** What has a say in where a provider is. */
interface UrlOptions {
  readonly rewrite: ((url: string, provider: string) => string) | undefined;
  readonly mayAskPlain: (host: string) => boolean;
}

type Secret = Readonly<Record<string, string>>;
/** What is taken of a Secret, as of those of Mounts. */
const KEYS = ["token", "tls.crt", "tls.key", "ca.crt"] as const;

/** Where a provider is, and who asks it, as its Secret says. @throws Error that names the key, what is wrong, and the remedy, and no value */
function upstreamFromSecret(
  secret: Secret,
  provider: string,
  { rewrite, mayAskPlain }: UrlOptions,
): Pick<UpstreamOptions, "url" | "tls" | "credentials"> {
  const said = (secret["url"] ?? "").trim();
  if (said === "") throw new Error("url: the Secret has none: give the URL of the provider, https://host:port/path");
  const url = rewrite === undefined ? said : rewrite(said, provider);
  const { protocol, host } = partsOf(url);
  if (protocol !== "https:" && !mayAskPlain(host))
    throw new Error(
      "url: by plain http anybody on the way reads the credential, and kubeconfigs: give an https URL, or have whoever runs the manager allow the host",
    );
  const { ca, credential } = contentOf(secret);
  if (credential === undefined)
    throw new Error(
      "token: the Secret has none, and no tls.crt with tls.key: give what the provider knows its manager by",
    );
  const shown = requestCredential(credential);
  return { url, tls: ca === undefined ? {} : { ca }, credentials: { get: () => shown } };
}

function partsOf(text: string): { readonly protocol: string; readonly host: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw new Error("url: it is none that begins with https://: give that of the provider");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new Error("url: leave out user, password, query and fragment: credentials have keys of their own");
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

/** Whether a host is this machine, whoever is on the network. */
function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost";
}
