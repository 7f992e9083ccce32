import { spawn } from "node:child_process";
import { dirname, isAbsolute, join } from "node:path";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { booleanIn, type ConfigEntry, KubeconfigError, stringIn, stringsIn } from "./config.ts";
import type { CredentialPart, CredentialSource } from "./credentials.ts";
import { pemOf } from "./files.ts";

/** Maximum output of a plugin, in bytes. */
const LONGEST = 1024 * 1024;
/** Number of characters of stderr to show in an error. */
const SHOWN = 2_000;
/** Timeout of a plugin that does not prompt, in ms. */
const PATIENCE = 60_000;

interface Given {
  readonly part: CredentialPart;
  /** Expiry, in ms since 1970; `Infinity` until the server rejects the credential. */
  readonly expires: number;
}

/** Runs a credential plugin when a credential is needed: the first time, after it expired, and after the server rejected it. */
export class ExecSource implements CredentialSource {
  readonly #options: ExecOptions;
  #given: Given | undefined;
  #running: Promise<Given> | undefined;

  constructor(options: ExecOptions) {
    this.#options = options;
  }

  async get(): Promise<CredentialPart> {
    if (this.#given !== undefined && this.#given.expires > Date.now()) return this.#given.part;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return (await this.#running).part;
  }

  refused(): void {
    this.#given = undefined;
  }

  async #run(): Promise<Given> {
    this.#given = partIn(await printed(this.#options), this.#options);
    return this.#given;
  }
}

/**
 * Returns the output of the plugin.
 * @throws KubeconfigError with its stderr. Security: never with its output or input, which hold secrets
 */
function printed(options: ExecOptions): Promise<string> {
  const { at, command, args, env, interactiveMode, installHint } = options;
  const interactive = interactiveMode !== "Never" && process.stdin.isTTY === true;
  if (interactiveMode === "Always" && !interactive)
    throw new KubeconfigError(
      `${at}: ${command} needs a terminal for its prompt: run this in a terminal, or use another plugin`,
    );
  const info = {
    kind: "ExecCredential",
    apiVersion: options.apiVersion,
    spec: { ...(options.cluster && { cluster: options.cluster }), interactive },
  };
  const child = spawn(command, args, {
    env: { ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [interactive ? "inherit" : "ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    const output = { stdout: "", stderr: "" };
    const fail = (what: string): void => reject(new KubeconfigError(`${at}: ${command} ${what}`));
    const giveUp = (what: string): void => {
      fail(what);
      child.kill("SIGKILL");
      // Its child processes may hold the pipes and keep writing.
      for (const pipe of [child.stdout, child.stderr]) pipe?.removeAllListeners("data").destroy();
    };
    const late = interactive
      ? undefined
      : setTimeout(() => giveUp(`printed nothing within ${PATIENCE / 1000} s: run it by hand to see why`), PATIENCE);
    const add = (name: "stdout" | "stderr") => (text: string) => {
      output[name] += text;
      if (output[name].length > LONGEST)
        giveUp(`printed more than ${LONGEST} bytes: check that it is a credential plugin`);
    };
    child.stdout?.setEncoding("utf8").on("data", add("stdout"));
    child.stderr?.setEncoding("utf8").on("data", add("stderr"));
    child.once("error", ({ code }: NodeJS.ErrnoException) => {
      clearTimeout(late);
      fail(`cannot be run: ${code}${code === "ENOENT" && installHint !== "" ? `: ${installHint}` : ""}`);
    });
    child.once("close", (code, signal) => {
      clearTimeout(late);
      const complaint = output.stderr.slice(-SHOWN).trim();
      if (code === 0) resolve(output.stdout);
      else
        fail(`failed with ${code === null ? signal : `exit code ${code}`}${complaint === "" ? "" : `: ${complaint}`}`);
    });
  });
}

function partIn(text: string, { at, command, apiVersion }: ExecOptions): Given {
  const problem = (what: string): KubeconfigError =>
    new KubeconfigError(`${at}: ${command} printed no valid ExecCredential: ${what}`);
  const credential = jsonOf(text);
  if (!isJsonObject(credential) || credential["kind"] !== "ExecCredential")
    throw problem("it is not JSON of that kind");
  if (credential["apiVersion"] !== apiVersion) throw problem(`its apiVersion is not ${apiVersion}`);
  const { status } = credential;
  if (!isJsonObject(status)) throw problem("it has no status");
  const token = member(status, "token");
  const cert = member(status, "clientCertificateData");
  const key = member(status, "clientKeyData");
  if (token === undefined && cert === undefined)
    throw problem("its status has neither token nor clientCertificateData");
  if ((cert === undefined) !== (key === undefined))
    throw problem("its status must have both clientCertificateData and clientKeyData, or neither");
  const until = member(status, "expirationTimestamp");
  const expires = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
  if (Number.isNaN(expires)) throw problem("expirationTimestamp is not a time");
  return {
    expires,
    part: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    },
  };
}

function member(status: JsonObject, field: string): string | undefined {
  const value = status[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Program that returns credentials (client-go's credential plugins). */
interface ExecOptions {
  /** Field of the kubeconfig. */
  readonly at: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly interactiveMode: string;
  /** Hint to show if the program does not exist. */
  readonly installHint: string;
  /** Cluster information for a plugin that requests it. */
  readonly cluster: JsonObject | undefined;
}

const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const MODES = ["Never", "IfAvailable", "Always"];
const EXTENSION = "client.authentication.k8s.io/exec";

/** @throws KubeconfigError for anything that kubectl would not run either */
export async function execOptions(
  user: ConfigEntry,
  cluster: ConfigEntry,
  inherited: Readonly<Record<string, string | undefined>>,
): Promise<ExecOptions> {
  const exec = memberOf(user.value, "exec");
  const at = `${user.at}.exec`;
  if (!isJsonObject(exec)) throw new KubeconfigError(`${at} must be an object`);
  const apiVersion = stringIn(exec, "apiVersion", at);
  const command = stringIn(exec, "command", at);
  if (command === "") throw new KubeconfigError(`${at}.command is empty: set the program`);
  if (!VERSIONS.includes(apiVersion))
    throw new KubeconfigError(`invalid ${at}.apiVersion: use ${VERSIONS.join(" or ")}`);
  const interactiveMode = stringIn(exec, "interactiveMode", at) || (apiVersion === VERSIONS[0] ? "" : "IfAvailable");
  if (!MODES.includes(interactiveMode))
    throw new KubeconfigError(`invalid ${at}.interactiveMode: use ${MODES.join(", ")}`);
  return {
    at,
    // A path is relative to the kubeconfig; a bare name is looked up in PATH.
    command: command.includes("/") && !isAbsolute(command) ? join(dirname(user.file), command) : command,
    args: stringsIn(exec, "args", at),
    env: { ...definedOf(inherited), ...ownEnv(exec, at) },
    apiVersion,
    interactiveMode,
    installHint: stringIn(exec, "installHint", at),
    cluster: booleanIn(exec, "provideClusterInfo", at) ? await clusterInfo(cluster) : undefined,
  };
}

function ownEnv(exec: JsonObject, at: string): Record<string, string> {
  const list = memberOf(exec, "env") ?? [];
  if (!Array.isArray(list)) throw new KubeconfigError(`${at}.env must be a list of name and value`);
  return Object.fromEntries(
    list.map((item: unknown, index) => {
      if (!isJsonObject(item)) throw new KubeconfigError(`${at}.env[${index}] must have name and value`);
      return [stringIn(item, "name", `${at}.env[${index}]`), stringIn(item, "value", `${at}.env[${index}]`)];
    }),
  );
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Returns the cluster, with the content of its CA file. */
async function clusterInfo(cluster: ConfigEntry): Promise<JsonObject> {
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
