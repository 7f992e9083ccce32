import { hostname } from "node:os";
import { keepHistory } from "@virtual-workspaces/store";
import { createWorkspaceServer, type ShardUrls, type WorkspaceServer } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { Interrupt } from "../process/interrupt.ts";
import { shellWord } from "../process/programs.ts";
import { RestingMemory } from "../process/resting-memory.ts";
import { startFailure } from "../server/listening.ts";
import { loginsOf } from "../server/logins.ts";
import { openStore } from "../server/open-store.ts";
import { asShard } from "../server/upstreams.ts";
import { clusterProxiesOf } from "./cluster-proxies.ts";
import { showDemo } from "./demo/show.ts";
import { hubURL, urlsAt } from "./endpoint.ts";
import { type Mounts, mountsOf } from "./mounts.ts";
import { type Credentials, credentialsOf, kubectlPlugins, takeRootDirectory } from "./root-directory.ts";
import { shardsOf } from "./shards.ts";
import { SPACES, spacesOf } from "./spaces.ts";
import type { StartOptions } from "./start-options.ts";
import { type Views, viewsOf } from "./views.ts";

/** Serves workspaces until the process is asked to end. @returns the exit code @throws Failure */
export async function serve(options: StartOptions): Promise<number> {
  const { log, place } = options;
  await using stack = new AsyncDisposableStack();
  const interrupt = stack.use(new Interrupt());
  // A reader of the log that has gone away is no reason to end.
  stack.adopt(process.stderr.on("error", ignore), (stderr) => void stderr.off("error", ignore));
  stack.use(log);
  stack.use(new RestingMemory());
  const lock = stack.use(takeRootDirectory(options.rootDirectory));
  for (const message of options.warnings) log({ level: "warn", message });
  const credentials = await credentialsOf(options);
  const store = stack.use(await unless(interrupt.asked, openStore(options.store)));
  if (store === undefined) return 0;
  stack.use(
    keepHistory(store, {
      onError: (error) => log({ level: "warn", message: "history of the store not kept short", error: String(error) }),
    }),
  );
  const remote = await clusterProxiesOf(options, await viewsOf(options, stack));
  const spaces = await spacesOf(options, remote.views);
  const { views, begin, options: mounted } = await mountsOf(options, spaces.views);
  const logins = await orFail(() => loginsOf(options.issuerHosts));
  const server = stack.use(await orFail(() => serverOf(options, { credentials, store, views, mounted, logins })));
  const listening = await Promise.race([started(server, options), interrupt.asked]);
  if (listening === undefined) return 0;
  const { baseURL } = urlsAt(place, listening.port);
  lock.serves(baseURL);
  await orFail(() => credentials.admin?.write({ server: baseURL, ca: credentials.ca }));
  const managed = stack.use(await spaces.begin({ url: baseURL, ca: credentials.ca }));
  console.log(readyText(options, baseURL, views));
  await remote.begin({ url: hubURL(place, listening.port), ca: credentials.ca });
  const mounts = stack.use(await begin());
  if (options.demo) {
    const names = views.virtualWorkspaces.map(({ name }) => name);
    await Promise.race([
      showDemo({ ...options, url: baseURL, views: names, spaces: SPACES }, stack),
      interrupt.asked,
    ]).catch((error: unknown) =>
      log({ level: "warn", message: "the demonstration cannot be shown", error: String(error) }),
    );
  }
  log({
    level: "info",
    message: "Serving securely",
    address: place.bindAddress,
    port: listening.port,
    store: store.name,
  });
  await interrupt.asked;
  log({ level: "info", message: "shutting down" });
  await Promise.all([mounts, managed].map((one) => one[Symbol.asyncDispose]()));
  await server.close();
  return 0;
}

function serverOf(
  options: StartOptions,
  {
    credentials,
    store,
    views,
    mounted,
    logins,
  }: {
    readonly credentials: Credentials;
    readonly store: Parameters<typeof keepHistory>[0];
    readonly views: Views;
    readonly mounted: Mounts["options"];
    readonly logins: Awaited<ReturnType<typeof loginsOf>>;
  },
): WorkspaceServer {
  const { log, onRequest, audit, closeDelay, homeWorkspaces, totalObjectLimit, place, rootCa, serviceAccounts } =
    options;
  const { issuers, audiences, keysUrl } = serviceAccounts;
  const { others } = options.services;
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
    virtualWorkspaces: views.virtualWorkspaces,
    ...(views.loopback && { loopback: views.loopback }),
    shards: shardsOf(options, views),
    closeDelay,
    totalObjectLimit,
    ...mounted,
    workspaceAuthentication: logins,
    ...(options.exportURLs !== undefined && { exportURLs: options.exportURLs }),
    virtualStorage: options.virtualStorage && { others: others && asShard(others) },
    ...(homeWorkspaces !== undefined && { homeWorkspaces }),
    ...(audit && { audit }),
    ...(options.authenticationFailures && { authenticationFailures: options.authenticationFailures }),
    ...(onRequest && { onRequest }),
    log,
  });
}

/** What comes, unless somebody wants to end before: what comes after that is closed. */
async function unless<T extends AsyncDisposable>(asked: Promise<void>, coming: Promise<T>): Promise<T | undefined> {
  const first = await Promise.race([coming, asked.then(() => undefined)]);
  if (first === undefined) coming.then((late) => late[Symbol.asyncDispose]()).catch(ignore);
  return first;
}

async function started(server: WorkspaceServer, { place }: StartOptions): Promise<{ readonly port: number }> {
  try {
    return await server.listen({ port: place.port, host: place.bindAddress });
  } catch (error) {
    throw startFailure(error, place);
  }
}

/** Where it serves, and what to tell a shell so that kubectl finds it. */
function readyText({ admin, kubeconfig, rootDirectory }: StartOptions, url: string, { named }: Views): string {
  const plugins = admin ? kubectlPlugins(rootDirectory) : undefined;
  const places = named
    .filter(({ prefix }) => prefix === undefined)
    .map(({ name, path }) => `  ${url}/services/${name}${path.replace(/:(\w+)/g, "<$1>")}`);
  return [
    `Ready in ${(performance.now() / 1000).toFixed(2)} s: workspaces at ${url}/clusters/root`,
    ...(admin ? [`export KUBECONFIG=${shellWord(kubeconfig)}`] : []),
    ...(plugins === undefined ? [] : [`export PATH=${shellWord(plugins)}:$PATH  # kubectl ws`]),
    ...(places.length > 0 ? ["", "Views:", ...places] : []),
  ].join("\n");
}

function ignore(): void {}
