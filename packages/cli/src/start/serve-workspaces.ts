import { hostname } from "node:os";
import type { Console } from "@virtual-workspaces/console";
import type { Listening } from "@virtual-workspaces/framework/server";
import { keepHistory } from "@virtual-workspaces/store";
import {
  type ComposedFeatures,
  composeFeatures,
  createWorkspaceServer,
  FeatureError,
  loopback,
  type ShardUrls,
  type WorkspaceServer,
} from "@virtual-workspaces/workspace-server";
import { Failure, orFail, problemOf } from "../process/failure.ts";
import { Interrupt } from "../process/interrupt.ts";
import { logWarnings } from "../process/log.ts";
import { shellWord } from "../process/programs.ts";
import { Progress } from "../process/progress.ts";
import { RestingMemory } from "../process/resting-memory.ts";
import { type OpenedAuthorization, openAuthorization } from "../server/authorization.ts";
import { openConsole } from "../server/console.ts";
import { onInUse, startFailure } from "../server/listening.ts";
import { loginsOf } from "../server/logins.ts";
import { openStore } from "../server/open-store.ts";
import { showDemo } from "./demo/show.ts";
import { lastPort, shardAddress, urlsAt } from "./endpoint.ts";
import { SPACES } from "./features/spaces.ts";
import { type Credentials, credentialsOf, kubectlPlugins, takeRootDirectory } from "./root-directory.ts";
import { openViewsStore, shardsOf } from "./shards.ts";
import type { StartOptions } from "./start-options.ts";

/** Serves workspaces until a signal stops the process. @returns the exit code @throws Failure */
export async function serve(options: StartOptions): Promise<number> {
  const { log, place } = options;
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  // A closed log pipe does not stop the server.
  stack.adopt(process.stderr.on("error", ignore), (stderr) => void stderr.off("error", ignore));
  stack.use(log);
  stack.use(logWarnings(options));
  stack.use(new RestingMemory());
  const lock = stack.use(takeRootDirectory(options.rootDirectory));
  for (const message of options.warnings) log({ level: "warn", message });
  const progress = stack.use(new Progress("opening the store", options));
  const credentials = await credentialsOf(options);
  const store = stack.use(await unless(interrupt.requested, openStore(options.store, log)));
  if (store === undefined) return 0;
  stack.use(
    keepHistory(store, {
      onError: (error) =>
        log({ level: "warn", message: "cannot compact the history of the store", error: String(error) }),
    }),
  );
  const { promise: listens, resolve: known } = Promise.withResolvers<Listening>();
  const features = await composed(options, { listening: listens, ca: credentials.ca, own: stack });
  const logins = await orFail(() => loginsOf(options.issuerHosts));
  const authorization = options.authorization && (await openAuthorization(options.authorization, { log, stack }));
  const { file } = options.authentication;
  if (file !== undefined) stack.use(file.follow(log));
  const page = options.console && (await orFail(() => consoleOf(options)));
  const own = { credentials, store, features, logins, ...(authorization && { authorization }), ...(page && { page }) };
  const server = stack.use(await orFail(() => serverOf(options, own)));
  progress.set("loading workspaces");
  const listening = await Promise.race([started(server, options, credentials), interrupt.requested]);
  if (listening === undefined) return 0;
  known(listening);
  const { baseURL } = urlsAt(place, listening.port);
  lock.serves(baseURL);
  await orFail(() => credentials.admin?.write({ server: baseURL, ca: credentials.ca }));
  const begun = stack.use(new AsyncDisposableStack());
  progress.set("starting virtual workspaces");
  begun.use(await orFeatureFailure(options, () => features.begin("before-ready")));
  progress[Symbol.dispose]();
  const link = page && consoleLink(page, { options, baseURL, credentials });
  console.log(readyText(options, { url: baseURL, listed: features.listed, link }));
  begun.use(await orFeatureFailure(options, () => features.begin("after-ready")));
  if (options.demo) {
    const names = features.options.virtualWorkspaces.map(({ name }) => name);
    await Promise.race([
      showDemo({ ...options, url: baseURL, views: names, spaces: SPACES }, stack),
      interrupt.requested,
    ]).catch((error: unknown) =>
      log({ level: "warn", message: "cannot show the demonstration", error: String(error) }),
    );
  }
  log({
    level: "info",
    message: "Serving securely",
    address: place.bindAddress,
    port: listening.port,
    store: store.name,
  });
  await interrupt.requested;
  log({ level: "info", message: "shutting down" });
  await begun.disposeAsync();
  await server.close();
  return 0;
}

function composed(
  options: StartOptions,
  { own, ...host }: { readonly listening: Promise<Listening>; readonly ca: string; readonly own: AsyncDisposableStack },
): Promise<ComposedFeatures> {
  const { place, store, rootDirectory: directory, log } = options;
  return orFeatureFailure(options, () =>
    composeFeatures(options.features, {
      ...host,
      ...{ own, directory, log },
      loopback: loopback(),
      address: (shard, { port }) => shardAddress(place, shard, port),
      openStore: (shard, until) => openViewsStore(store, shard, until),
    }),
  );
}

/** Names the module in a feature's error; the command's own features keep theirs. @throws Failure, and errors of features */
async function orFeatureFailure<T>({ features }: StartOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FeatureError)) throw error;
    const { feature, cause } = error;
    const module = features.find(({ name }) => name === feature)?.module;
    throw module === undefined ? cause : new Failure(`--feature ${module}: ${problemOf(cause)}`, { cause });
  }
}

function serverOf(
  options: StartOptions,
  {
    credentials,
    store,
    features,
    logins,
    authorization,
    page,
  }: {
    readonly credentials: Credentials;
    readonly store: Parameters<typeof keepHistory>[0];
    readonly features: ComposedFeatures;
    readonly logins: Awaited<ReturnType<typeof loginsOf>>;
    readonly authorization?: OpenedAuthorization;
    readonly page?: Console;
  },
): WorkspaceServer {
  const { log, onRequest, audit, closeDelay, homeWorkspaces, totalObjectLimit, place, rootCa, serviceAccounts } =
    options;
  const { issuers, audiences, keysUrl } = serviceAccounts;
  const { mounts = false, virtualStorage = {}, ...views } = features.options;
  const { tls, ca, authentication, serviceAccountKeys } = credentials;
  return createWorkspaceServer({
    store,
    tls,
    authentication,
    serviceAccountKeys,
    ...(issuers.length > 0 && { serviceAccountIssuers: issuers }),
    ...(audiences.length > 0 && { audiences }),
    ...(keysUrl !== undefined && { serviceAccountKeysUrl: keysUrl }),
    rootCa: () => rootCa ?? ca,
    ...(options.store.engine === "etcd" && { instance: `${hostname()} ${options.rootDirectory}` }),
    urls: ({ port }): ShardUrls => urlsAt(place, port),
    ...views,
    ...(authorization && { authorization: authorization.options }),
    families: () => [authorization?.file, options.authentication.file].flatMap((file) => file?.families() ?? []),
    mounts,
    component: options.component,
    shards: shardsOf(options, features),
    closeDelay,
    totalObjectLimit,
    workspaceAuthentication: logins,
    ...(options.exportURLs !== undefined && { exportURLs: options.exportURLs }),
    cachedResources: options.cachedResources,
    virtualStorage: options.virtualStorage && virtualStorage,
    ...(homeWorkspaces !== undefined && { homeWorkspaces }),
    ...(audit && { audit }),
    corsAllowedOrigins: options.corsAllowedOrigins,
    ...(page && { pages: page.pages }),
    ...(options.authenticationFailures && { authenticationFailures: options.authenticationFailures }),
    ...(onRequest && { onRequest }),
    log,
  });
}

/** Returns the result, or `undefined` after a signal; a result that arrives later is closed. */
async function unless<T extends AsyncDisposable>(asked: Promise<void>, coming: Promise<T>): Promise<T | undefined> {
  const first = await Promise.race([coming, asked.then(() => undefined)]);
  if (first === undefined) coming.then((late) => late[Symbol.asyncDispose]()).catch(ignore);
  return first;
}

/** Listens, on the last port if it is to be kept and is free. */
async function started(server: WorkspaceServer, { place }: StartOptions, { admin }: Credentials): Promise<Listening> {
  const listen = (port: number): Promise<Listening> => server.listen({ port, host: place.bindAddress });
  try {
    const last = lastPort(place, admin?.lastServer);
    return last === undefined ? await listen(place.port) : await listen(last).catch(onInUse(() => listen(place.port)));
  } catch (error) {
    throw startFailure(error, place);
  }
}

function consoleOf({ console: choice, rootDirectory, log }: StartOptions): Promise<Console> | undefined {
  return choice && openConsole(choice, { rootDirectory, log });
}

/**
 * Returns the line about the console. Security: the output of a server that others can reach may be kept in a log, so it has no
 * one-time link.
 */
function consoleLink(
  page: Console,
  {
    options,
    baseURL,
    credentials,
  }: { readonly options: StartOptions; readonly baseURL: string; readonly credentials: Credentials },
): string {
  const { admin } = credentials;
  if (admin === undefined || options.quiet || !isLoopback(options.place.bindAddress))
    return `Console: ${baseURL}${page.pages.path}/  # virtual-workspaces console prints a one-time link`;
  return `Console, for one sign-in as kcp-admin within an hour: ${page.link(baseURL, admin.token)}`;
}

/** Whether only this machine reaches an address. */
function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

interface ReadyServer extends Pick<ComposedFeatures, "listed"> {
  readonly url: string;
  /** Line about the console. */
  readonly link: string | undefined;
}

/** Returns the server's URL, the shell commands that set up kubectl, and the link to the console. */
function readyText({ admin, kubeconfig, rootDirectory }: StartOptions, { url, listed, link }: ReadyServer): string {
  const plugins = admin ? kubectlPlugins(rootDirectory) : undefined;
  const places = listed
    .filter(({ prefix }) => prefix === undefined)
    .map(({ name, path }) => `  ${url}/services/${name}${path.replace(/:(\w+)/g, "<$1>")}`);
  return [
    `Ready in ${(performance.now() / 1000).toFixed(2)} s: workspaces at ${url}/clusters/root`,
    ...(admin ? [`export KUBECONFIG=${shellWord(kubeconfig)}`] : []),
    ...(plugins === undefined ? [] : [`export PATH=${shellWord(plugins)}:$PATH  # kubectl ws`]),
    ...(link === undefined ? [] : [link]),
    ...(places.length > 0 ? ["", "Views:", ...places] : []),
  ].join("\n");
}

function ignore(): void {}
