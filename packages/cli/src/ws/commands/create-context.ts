import { say, type WsCommand } from "../command.ts";
import { placeOfContext, writeContext } from "../contexts.ts";

export const createContext: WsCommand = {
  usage: "create-context [<name>] [--overwrite]",
  flags: ["overwrite"],
  words: [0, 1],
  async run({ kubeconfig }, [name], { overwrite = false }) {
    const { path } = placeOfContext(kubeconfig);
    say(await writeContext(kubeconfig, { name: name ?? path, overwrite, enter: true }));
  },
};
