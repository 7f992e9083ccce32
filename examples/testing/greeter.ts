// A controller with @kubernetes/client-node, for the tests beside it: it writes a text into the status of each Greeting.
import { CustomObjectsApi, type KubeConfig, type KubernetesObject, makeInformer } from "@kubernetes/client-node";

/** Object of the kind in greetings.yaml. */
export interface Greeting extends KubernetesObject {
  readonly spec: { readonly name: string };
  readonly status?: { readonly text: string };
}

const GREETINGS = { group: "example.dev", version: "v1", plural: "greetings" };

/** Starts the controller. @returns a function that stops it */
export async function startGreeter(config: KubeConfig): Promise<() => Promise<void>> {
  const api = config.makeApiClient(CustomObjectsApi);
  let stopped = false;
  let again: NodeJS.Timeout | undefined;

  const greet = async (greeting: Greeting): Promise<void> => {
    const text = `Hello, ${greeting.spec.name}!`;
    if (greeting.status?.text === text) return;
    const { name = "", namespace = "" } = greeting.metadata ?? {};
    const place = { ...GREETINGS, namespace, name };
    try {
      await api.replaceNamespacedCustomObjectStatus({ ...place, body: { ...greeting, status: { text } } });
    } catch (error) {
      if ((error as { readonly code?: number }).code !== 409) throw error;
      await greet((await api.getNamespacedCustomObject(place)) as Greeting);
    }
  };
  const failed = (error: unknown): void => {
    if (!stopped) console.error(error);
  };
  const look = (greeting: Greeting): void => void greet(greeting).catch(failed);

  const informer = makeInformer<Greeting>(config, "/apis/example.dev/v1/greetings", () =>
    api.listCustomObjectForAllNamespaces({ ...GREETINGS, resourcePlural: GREETINGS.plural }),
  );
  informer.on("add", look);
  informer.on("update", look);
  informer.on("error", () => {
    if (!stopped) again = setTimeout(() => void informer.start().catch(failed), 100);
  });
  await informer.start();
  return async () => {
    stopped = true;
    clearTimeout(again);
    await informer.stop();
  };
}
