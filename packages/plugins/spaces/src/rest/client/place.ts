import { isIP } from "node:net";
import { requestCredential, SecretFault, secretContent } from "@virtual-workspaces/kcp";
import { hostOf, type UpstreamOptions } from "@virtual-workspaces/transport";

/** What has a say in where a provider is. */
export interface PlaceOptions {
  readonly rewrite: ((url: string, provider: string) => string) | undefined;
  readonly mayAskPlain: (host: string) => boolean;
}

type Secret = Readonly<Record<string, string>>;
/** What is taken of a Secret, as of those of Mounts. */
const KEYS = ["token", "tls.crt", "tls.key", "ca.crt"] as const;

/** Where a provider is, and who asks it, as its Secret says. @throws Error that names the key, what is wrong, and the remedy, and no value */
export function placeIn(
  secret: Secret,
  provider: string,
  { rewrite, mayAskPlain }: PlaceOptions,
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
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost";
}
