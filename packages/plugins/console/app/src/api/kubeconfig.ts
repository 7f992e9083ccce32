import { parse } from "yaml";
import { texts } from "../texts.ts";

interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly {
    readonly name: string;
    readonly context?: { readonly user?: string; readonly cluster?: string };
  }[];
  readonly clusters?: readonly { readonly name: string; readonly cluster?: { readonly server?: string } }[];
  readonly users?: readonly { readonly name: string; readonly user?: Readonly<Record<string, unknown>> }[];
}

export interface KubeconfigToken {
  readonly token: string;
  /** Path of the workspace of the context's URL. */
  readonly workspace?: string;
}

/** The token of the user of the current context. Throws an error that says what to do instead. */
export function tokenOfKubeconfig(text: string): KubeconfigToken {
  const config = parsed(text);
  const { contexts = [], clusters = [], users = [], "current-context": current = "" } = config;
  const context = contexts.find(({ name }) => name === current) ?? (contexts.length === 1 ? contexts[0] : undefined);
  if (context === undefined) throw new Error(texts.signIn.noContext(current));
  const name = context.context?.user ?? "";
  const user = users.find((one) => one.name === name)?.user;
  if (user === undefined) throw new Error(texts.signIn.noUser(name));
  const server = clusters.find((one) => one.name === context.context?.cluster)?.cluster?.server ?? "";
  const workspace = /\/clusters\/([a-z0-9:-]+)\/?$/.exec(server)?.[1];
  if (typeof user["token"] === "string" && user["token"] !== "")
    return { token: user["token"], ...(workspace !== undefined && { workspace }) };
  if (user["client-certificate-data"] !== undefined || user["client-certificate"] !== undefined)
    throw new Error(texts.signIn.certificate(name));
  if (user["exec"] !== undefined || user["tokenFile"] !== undefined || user["auth-provider"] !== undefined)
    throw new Error(texts.signIn.command(name));
  throw new Error(texts.signIn.noToken(name));
}

function parsed(text: string): Kubeconfig {
  let config: unknown;
  try {
    config = parse(text);
  } catch (error) {
    throw new Error(texts.signIn.notYaml(error instanceof Error ? error.message : String(error)));
  }
  return typeof config === "object" && config !== null ? config : {};
}
