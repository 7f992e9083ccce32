import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { Credentials } from "@virtual-workspaces/transport";
import type { Impersonation } from "../http/impersonation.ts";
import { type ConfigEntry, KubeconfigError, stringIn, stringsIn } from "./config.ts";
import { type CredentialPart, type CredentialSource, FreshFile, UserCredentials } from "./credentials.ts";
import { ExecSource, execOptions } from "./exec.ts";
import { pathOf, pemOf } from "./files.ts";

export interface UserOptions {
  readonly user: ConfigEntry;
  readonly cluster: ConfigEntry;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the credentials of a kubeconfig's user; `undefined` if it has none.
 * @throws KubeconfigError for anything that kubectl rejects too
 */
export async function userCredentials(options: UserOptions): Promise<Credentials | undefined> {
  // Later sources win: like kubectl, fields of the user take precedence over a plugin.
  const sources = [...(await programs(options)), await certificates(options.user), authorization(options.user)].filter(
    (source) => source !== undefined,
  );
  return sources.length === 0 ? undefined : new UserCredentials(sources);
}

/** Reads `as`, `as-uid`, `as-groups` and `as-user-extra`. */
export function impersonationOf({ value, at }: ConfigEntry): Impersonation | undefined {
  const name = stringIn(value, "as", at);
  const uid = stringIn(value, "as-uid", at);
  const groups = stringsIn(value, "as-groups", at);
  const given = memberOf(value, "as-user-extra") ?? {};
  if (!isJsonObject(given)) throw new KubeconfigError(`${at}: as-user-extra must be an object of lists`);
  const keys = Object.keys(given);
  if (name === "" && (uid !== "" || groups.length > 0 || keys.length > 0))
    throw new KubeconfigError(`${at}: as-uid, as-groups and as-user-extra require as: set the user's name`);
  if (name === "") return undefined;
  const extra = Object.fromEntries(keys.map((key) => [key, stringsIn(given, key, `${at}.as-user-extra`)]));
  return { name, ...(uid !== "" && { uid }), ...(groups.length > 0 && { groups }), ...(keys.length > 0 && { extra }) };
}

/** Creates a source that reads a token file. */
export function tokenFile(path: string, at: string): CredentialSource {
  const file = new FreshFile(path, at);
  return {
    get: async () => {
      const token = (await file.text()).trim();
      if (token === "") throw new KubeconfigError(`${at}: ${path} is empty: write a token to it`);
      return { authorization: `Bearer ${token}` };
    },
    isCurrent: () => file.isFresh,
    refused: () => file.forget(),
  };
}

async function certificates(user: ConfigEntry): Promise<CredentialSource | undefined> {
  // In sequence, so that the reported error does not vary.
  const cert = await pemOf(user, "client-certificate");
  const key = await pemOf(user, "client-key");
  if (cert === "" && key === "") return undefined;
  if (cert === "" || key === "")
    throw new KubeconfigError(
      `${user.at}: client-certificate and client-key go together: ${cert === "" ? "the first" : "the second"} is missing`,
    );
  const files = [fileOf(user, "client-certificate"), fileOf(user, "client-key")] as const;
  return {
    get: async () => ({ cert: (await files[0]?.text()) ?? cert, key: (await files[1]?.text()) ?? key }),
    isCurrent: () => files.every((file) => file?.isFresh !== false),
    refused: () => {
      for (const file of files) file?.forget();
    },
  };
}

function fileOf(user: ConfigEntry, field: string): FreshFile | undefined {
  const path = pathOf(user, field);
  return path === "" ? undefined : new FreshFile(path, `${user.at}.${field}`);
}

function authorization(user: ConfigEntry): CredentialSource | undefined {
  const { value, at } = user;
  const [name, password, token] = ["username", "password", "token"].map((field) => stringIn(value, field, at)) as [
    string,
    string,
    string,
  ];
  // kubectl spells this field in camel case.
  const path = pathOf(user, "tokenFile");
  if ((name !== "" || password !== "") && (token !== "" || path !== ""))
    throw new KubeconfigError(`${at}: more than one way to authenticate: set a token, or username and password`);
  if (path !== "") return tokenFile(path, `${at}.tokenFile`);
  const basic = (): string => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
  const header = token !== "" ? `Bearer ${token}` : name !== "" ? basic() : undefined;
  if (header === undefined) return undefined;
  if (/[\r\n\0]/.test(header)) throw new KubeconfigError(`${at}: the token contains line breaks: remove them`);
  return { get: () => ({ authorization: header }), isCurrent: () => true };
}

async function programs({ user, cluster, env }: UserOptions): Promise<CredentialSource[]> {
  const { value, at } = user;
  const [exec, provider] = [given(value, "exec"), given(value, "auth-provider")];
  if (exec && provider) throw new KubeconfigError(`${at}: auth-provider and exec are both set: remove one`);
  if (exec) return [new ExecSource(await execOptions(user, cluster, env))];
  return provider ? [await authProvider(user)] : [];
}

function given(value: JsonObject, field: string): boolean {
  return (memberOf(value, field) ?? null) !== null;
}

/** Creates a source for the older `auth-provider` (OIDC, Azure, GCP), as far as `@kubernetes/client-node` supports it. */
async function authProvider(user: ConfigEntry): Promise<CredentialSource> {
  const at = `${user.at}.auth-provider`;
  const provider = memberOf(user.value, "auth-provider");
  if (!isJsonObject(provider)) throw new KubeconfigError(`${at} must be an object`);
  const name = stringIn(provider, "name", at);
  const { KubeConfig } = await import("@kubernetes/client-node").catch((cause: unknown) => {
    throw new KubeconfigError(
      `${at}: install the package @kubernetes/client-node beside this one, or use exec instead`,
      {
        cause,
      },
    );
  });
  const config = new KubeConfig();
  const cluster = { name: "cluster", server: "https://localhost", skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: "user", authProvider: provider });
  return {
    get: async (): Promise<CredentialPart> => {
      const options: { headers: Record<string, string> } = { headers: {} };
      try {
        await config.applyToHTTPSOptions(options);
      } catch (cause) {
        throw new KubeconfigError(`${at}: ${name} returned no token: ${(cause as Error).name}`, { cause });
      }
      const authorization = options.headers["Authorization"];
      if (authorization === undefined) throw new KubeconfigError(`${at}: ${name} returned no token: use exec instead`);
      return { authorization };
    },
  };
}
