// Runs until it is stopped. It uses the kubeconfig as kubectl does, or the service account of its pod.
import { once } from "node:events";
import { Client, loadKubeconfig } from "@virtual-workspaces/workspaces";
import { startController } from "./controller.ts";

try {
  await using client = new Client(await loadKubeconfig());
  await using running = startController(client);
  await running.started;
  console.log("running");
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
} catch (error) {
  console.error(`my-view cannot start: ${(error as Error).message}`);
  process.exitCode = 1;
}
