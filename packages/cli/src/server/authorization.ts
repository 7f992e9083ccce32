import {
  type AuthorizationWebhook,
  type AuthorizationWebhookOptions,
  authorizationWebhook,
} from "@virtual-workspaces/forwarding";
import { authorizationConfiguration } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import type { AuthorizationOptions, AuthorizationOrder, AuthorizerName } from "@virtual-workspaces/workspace-server";
import type { AUTHORIZATION_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { orFail, UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";
import { ConfigFile } from "./config-file.ts";
import { kubeconfigUpstream } from "./upstreams.ts";

/** Webhook that flags or a file name. */
export interface ConfiguredWebhook extends Omit<AuthorizationWebhookOptions, "upstream" | "onError"> {
  readonly name: string;
  readonly kubeconfig: string;
}

/** Authorization that the flags select. Nothing is connected yet. */
export interface AuthorizationChoice extends Pick<AuthorizationOptions, "alwaysAllowPaths"> {
  readonly order: Order;
  /** File with the order. @default the flags have it */
  readonly file?: { readonly path: string; readonly text: string };
}

type Order = readonly (AuthorizerName | ConfiguredWebhook)[];

type AuthorizationFlags = Partial<Values<typeof AUTHORIZATION_FLAGS>>;

const WEBHOOK_FILE = "authorization-webhook-config-file";
/** Flags that need the webhook's file to have an effect. */
const OF_WEBHOOK = [
  "authorization-webhook-version",
  "authorization-webhook-cache-authorized-ttl",
  "authorization-webhook-cache-unauthorized-ttl",
] as const satisfies readonly (keyof AuthorizationFlags)[];
/** Longest time to cache a decision, in ms. */
const LONGEST_CACHE = 86_400_000;
const BEFORE: readonly AuthorizerName[] = ["AlwaysAllowGroups", "AlwaysAllowPaths"];
const NAMES = [...BEFORE, "RBAC", "Webhook"] as const;

/** Reads the flags and the file of the configuration. @returns `undefined` without a flag @throws UsageError */
export function authorizationOf(flags: AuthorizationFlags): AuthorizationChoice | undefined {
  const { "authorization-config": path, "authorization-always-allow-paths": paths } = flags;
  const file = path === undefined ? undefined : configurationFile(path, flags);
  const order = file === undefined ? orderOf(flags) : configuredOrder(file);
  if (order === undefined && paths === undefined) return undefined;
  return {
    order: order ?? [...BEFORE, "RBAC"],
    ...(file && { file }),
    ...(paths !== undefined && { alwaysAllowPaths: paths.map((path) => (path.startsWith("/") ? path : `/${path}`)) }),
  };
}

function orderOf(flags: AuthorizationFlags): Order | undefined {
  const { "authorization-order": names, [WEBHOOK_FILE]: kubeconfig } = flags;
  const needless = OF_WEBHOOK.find((name) => flags[name] !== undefined);
  if (kubeconfig === undefined && needless !== undefined)
    throw new UsageError(`--${needless} needs --${WEBHOOK_FILE}: set both`);
  const unknown = names?.find((name) => !NAMES.includes(name as (typeof NAMES)[number]));
  if (unknown !== undefined)
    throw new UsageError(`--authorization-order: invalid authorizer: "${unknown}": use ${NAMES.join(", ")}`);
  if (names?.length === 0) throw new UsageError("--authorization-order is empty: name at least one authorizer");
  if (kubeconfig !== undefined && names?.includes("Webhook") === false)
    throw new UsageError(`--${WEBHOOK_FILE} has no effect: add Webhook to --authorization-order`);
  if (names === undefined && kubeconfig === undefined) return undefined;
  const webhook = kubeconfig === undefined ? [] : [webhookOf(kubeconfig, flags)];
  return (names ?? NAMES).flatMap<AuthorizerName | ConfiguredWebhook>((name) =>
    name === "Webhook" ? webhook : [name as AuthorizerName],
  );
}

function webhookOf(kubeconfig: string, flags: AuthorizationFlags): ConfiguredWebhook {
  contentOf(kubeconfig, WEBHOOK_FILE);
  const { [OF_WEBHOOK[0]]: version = "v1beta1", [OF_WEBHOOK[1]]: allow, [OF_WEBHOOK[2]]: deny } = flags;
  if (version !== "v1" && version !== "v1beta1")
    throw new UsageError(`invalid value "${version}" for --${OF_WEBHOOK[0]}: use v1 or v1beta1`);
  for (const [name, time] of [
    [OF_WEBHOOK[1], allow],
    [OF_WEBHOOK[2], deny],
  ] as const)
    if (time !== undefined && time > LONGEST_CACHE)
      throw new UsageError(`invalid value for --${name}: use a duration of at most 24h`);
  return {
    name: "webhook",
    kubeconfig,
    version,
    ...(allow !== undefined && { allowCache: Math.round(allow) }),
    ...(deny !== undefined && { denyCache: Math.round(deny) }),
  };
}

function configurationFile(path: string, flags: AuthorizationFlags): NonNullable<AuthorizationChoice["file"]> {
  const other = (["authorization-order", WEBHOOK_FILE, ...OF_WEBHOOK] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (other !== undefined)
    throw new UsageError(`--${other} and --authorization-config both configure authorizers: use only one`);
  return { path, text: contentOf(path, "authorization-config") };
}

/** Reads the content of a configuration. @throws UsageError */
function configuredOrder({ path, text }: NonNullable<AuthorizationChoice["file"]>): Order {
  const place = `--authorization-config ${path}`;
  const { authorizers } = checked(place, () => authorizationConfiguration(text));
  const order = authorizers.map((one): Order[number] => {
    if (one.type === "RBAC") return "RBAC";
    const { connectionInfo, subjectAccessReviewVersion: version, ...webhook } = one.webhook;
    checked(`${place}: authorizer ${one.name}`, () => contentOf(connectionInfo.kubeConfigFile, "authorization-config"));
    return {
      ...{ name: one.name, kubeconfig: connectionInfo.kubeConfigFile, version },
      ...{ allowCache: webhook.authorizedTTL, denyCache: webhook.unauthorizedTTL, timeout: webhook.timeout },
      ...{ failurePolicy: webhook.failurePolicy, conditions: webhook.matchConditions },
    };
  });
  return [...BEFORE, ...order];
}

interface Opening {
  readonly log: Log;
  /** Closes the connections. */
  readonly stack: AsyncDisposableStack;
}

/** Authorization with connected webhooks. */
export interface OpenedAuthorization {
  readonly options: AuthorizationOptions;
  /** File that is read again when it changes. */
  readonly file: ConfigFile | undefined;
}

/** Time for requests that still wait for the webhooks of a replaced configuration, in ms: the longest timeout, and some. */
const GRACE = 35_000;

/** Connects the webhooks, and follows the file of the configuration. @throws Failure on an invalid kubeconfig */
export async function openAuthorization(
  { order, file, ...rest }: AuthorizationChoice,
  { log, stack }: Opening,
): Promise<OpenedAuthorization> {
  // Closed after the server, whenever they were opened.
  const all = stack.use(new AsyncDisposableStack());
  let own = all.use(new AsyncDisposableStack());
  let current = await connected(order, { log, stack: own });
  if (file === undefined) return { options: { ...rest, order: current }, file };
  const config = new ConfigFile({
    ...{ subject: "authorization", ...file },
    use: async (text) => {
      await using begun = new AsyncDisposableStack();
      const next = await connected(configuredOrder({ path: file.path, text }), { log, stack: begun });
      const previous = own;
      const failed = (error: unknown): void =>
        log({ level: "warn", message: "cannot close a replaced authorization configuration", error: String(error) });
      setTimeout(() => previous.disposeAsync().catch(failed), GRACE).unref();
      own = all.use(begun.move());
      current = next;
    },
  });
  stack.use(config.follow(log));
  return { options: { ...rest, order: () => current }, file: config };
}

async function connected(order: Order, opening: Opening): Promise<AuthorizationOrder> {
  const opened = new Map<ConfiguredWebhook, AuthorizationWebhook>();
  const authorizers: (AuthorizerName | AuthorizationWebhook)[] = [];
  for (const one of order) {
    const authorizer = typeof one === "string" ? one : (opened.get(one) ?? (await open(one, opening)));
    if (typeof one !== "string" && typeof authorizer !== "string") opened.set(one, authorizer);
    authorizers.push(authorizer);
  }
  return authorizers;
}

async function open(
  { name, kubeconfig, ...options }: ConfiguredWebhook,
  { log, stack }: Opening,
): Promise<AuthorizationWebhook> {
  const { upstream, cluster } = await kubeconfigUpstream({ file: kubeconfig, log });
  const url = cluster === undefined ? upstream.url : `${upstream.url}/clusters/${cluster}`;
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "cannot authorize with a webhook", webhook: name, error: String(error) });
  return stack.use(await orFail(() => authorizationWebhook({ ...options, upstream: { ...upstream, url }, onError })));
}
