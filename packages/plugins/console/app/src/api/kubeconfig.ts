import { parse } from "yaml";
import { texts } from "../texts.ts";

interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly { readonly name: string; readonly context?: { readonly user?: string } }[];
  readonly users?: readonly { readonly name: string; readonly user?: Readonly<Record<string, unknown>> }[];
}

/** The token of the user of the current context. Throws an error that says what to do instead. */
export function tokenOfKubeconfig(text: string): string {
  const config = parsed(text);
  const { contexts = [], users = [], "current-context": current = "" } = config;
  const context = contexts.find(({ name }) => name === current) ?? (contexts.length === 1 ? contexts[0] : undefined);
  if (context === undefined) throw new Error(texts.signIn.noContext(current));
  const name = context.context?.user ?? "";
  const user = users.find((one) => one.name === name)?.user;
  if (user === undefined) throw new Error(texts.signIn.noUser(name));
  if (typeof user["token"] === "string" && user["token"] !== "") return user["token"];
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
