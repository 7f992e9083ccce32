import { Client } from "@virtual-workspaces/client";
import { requestCredential, SecretFault, type SecretKubeconfig, secretKubeconfig } from "@virtual-workspaces/kcp";
import { hostOf } from "../kubeconfig.ts";

/** Workspaces of the process itself, or of whatever else a client asks. */
export interface OwnWorkspaces {
  /** By which they are made, in its logical cluster, and by which everything may be done in them. It is not closed. */
  readonly client: Client;
  /** Where they are reached, without `/clusters/…`. */
  readonly url: string;
  /** Who certifies that, PEM. @default whom the machine trusts */
  readonly ca?: string;
}

/** A server as others reach it. */
export interface ServerPlace {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
}

/** Whose workspaces are made and shown, and where they are reached. */
export interface WorkspacesPlace {
  readonly client: Client;
  /** Whether the client is closed with the provider. */
  readonly isOwned: boolean;
  readonly incluster: ServerPlace;
  readonly external: ServerPlace;
}

export function ownPlace({ client, url, ca }: OwnWorkspaces): WorkspacesPlace {
  const server = { url: hostOf(url), ca };
  return { client, isOwned: false, incluster: server, external: server };
}

/** What the Secret of a SpaceProviderDesc says. @throws Error that names the key, what is wrong with it, and the remedy */
export function placeIn(secret: Readonly<Record<string, string>>): WorkspacesPlace {
  const own = kubeconfigAt(secret, "kubeconfig");
  if (own === undefined)
    throw new Error("kubeconfig: the Secret has none: give one that leads to the workspace with the spaces");
  const { server, ca, serverName, credential } = own;
  if (credential === undefined) throw new Error("kubeconfig: it names no user: spaces are made by a credential");
  const shown = requestCredential(credential);
  const tls = { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) };
  const [incluster, external] = [kubeconfigAt(secret, "incluster") ?? own, kubeconfigAt(secret, "external") ?? own];
  const client = new Client({ upstream: { url: server, tls, credentials: { get: () => shown } } });
  return { client, isOwned: true, incluster: serverOf(incluster), external: serverOf(external) };
}

const serverOf = ({ server, ca, serverName }: SecretKubeconfig): ServerPlace => ({
  url: hostOf(server),
  ca,
  serverName,
});

function kubeconfigAt(secret: Readonly<Record<string, string>>, key: string): SecretKubeconfig | undefined {
  const text = secret[key];
  if (text === undefined) return undefined;
  try {
    return secretKubeconfig(text);
  } catch (error) {
    if (error instanceof SecretFault) throw new Error(`${key}: ${error.message}`, { cause: error });
    throw error;
  }
}
