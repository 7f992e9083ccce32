import { dirname, isAbsolute, join } from "node:path";
import { isJsonObject, type JsonObject, memberOf } from "@virtual-workspaces/apimachinery";
import { type Entry, flagOf, KubeconfigError, textOf, textsOf } from "./config.ts";
import { pemOf } from "./files.ts";

/** A program that says who we are (client-go's credential plugins). */
export interface ExecOptions {
  /** The field of the kubeconfig. */
  readonly at: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly interactiveMode: string;
  /** What to do where the program is not there. */
  readonly installHint: string;
  /** What it is told of the cluster, if it wants to know. */
  readonly cluster: JsonObject | undefined;
}

const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const MODES = ["Never", "IfAvailable", "Always"];
const EXTENSION = "client.authentication.k8s.io/exec";

/** @throws KubeconfigError on what kubectl would not run either */
export async function execOptions(
  user: Entry,
  cluster: Entry,
  inherited: Readonly<Record<string, string | undefined>>,
): Promise<ExecOptions> {
  const exec = memberOf(user.value, "exec");
  const at = `${user.at}.exec`;
  if (!isJsonObject(exec)) throw new KubeconfigError(`${at} must be an object`);
  const apiVersion = textOf(exec, "apiVersion", at);
  const command = textOf(exec, "command", at);
  if (command === "") throw new KubeconfigError(`${at}.command: name the program`);
  if (!VERSIONS.includes(apiVersion)) throw new KubeconfigError(`${at}.apiVersion: give ${VERSIONS.join(" or ")}`);
  const interactiveMode = textOf(exec, "interactiveMode", at) || (apiVersion === VERSIONS[0] ? "" : "IfAvailable");
  if (!MODES.includes(interactiveMode)) throw new KubeconfigError(`${at}.interactiveMode: give ${MODES.join(", ")}`);
  return {
    at,
    // A path is relative to the kubeconfig, a bare name is looked for.
    command: command.includes("/") && !isAbsolute(command) ? join(dirname(user.file), command) : command,
    args: textsOf(exec, "args", at),
    env: { ...definedOf(inherited), ...ownEnv(exec, at) },
    apiVersion,
    interactiveMode,
    installHint: textOf(exec, "installHint", at),
    cluster: flagOf(exec, "provideClusterInfo", at) ? await clusterInfo(cluster) : undefined,
  };
}

function ownEnv(exec: JsonObject, at: string): Record<string, string> {
  const list = memberOf(exec, "env") ?? [];
  if (!Array.isArray(list)) throw new KubeconfigError(`${at}.env must be a list of name and value`);
  return Object.fromEntries(
    list.map((item: unknown, index) => {
      if (!isJsonObject(item)) throw new KubeconfigError(`${at}.env[${index}] must have name and value`);
      return [textOf(item, "name", `${at}.env[${index}]`), textOf(item, "value", `${at}.env[${index}]`)];
    }),
  );
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The cluster, with the authorities of a file in it. */
async function clusterInfo(cluster: Entry): Promise<JsonObject> {
  const { value } = cluster;
  const ca = await pemOf(cluster, "certificate-authority");
  const fields = ["server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url"];
  const given = fields.filter((field) => memberOf(value, field) !== undefined);
  const extensions = memberOf(value, "extensions");
  const own = Array.isArray(extensions)
    ? extensions.find((item) => isJsonObject(item) && item["name"] === EXTENSION)
    : undefined;
  return {
    ...Object.fromEntries(given.map((field) => [field, value[field]])),
    ...(ca !== "" && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(isJsonObject(own) && { config: own["extension"] }),
  };
}
