import { join } from "node:path";
import type { GeneratedTls } from "@virtual-workspaces/framework";
import { writePrivately } from "../files.ts";
import { contextsOf } from "./contexts.ts";
import { kubeconfig } from "./kubeconfig.ts";
import type { Loaded } from "./messages.ts";
import { readyText, type Serving, viewsText } from "./texts.ts";

/** What the user is given: the kubeconfig, and the lines that say what there is. */
export class Publication {
  readonly #site: { readonly url: string; readonly dir: string; readonly credentials: GeneratedTls };
  #written = "";
  #serving: Serving;

  constructor(
    loaded: Loaded,
    site: { readonly url: string; readonly dir: string; readonly credentials: GeneratedTls },
  ) {
    this.#site = site;
    this.#serving = this.#publish(loaded);
  }

  /** @param seconds since the command was given */
  ready(seconds: number): string {
    return readyText(this.#serving, seconds);
  }

  /** What to say of a reload: the views, where they are others than before. */
  reloaded(loaded: Loaded): string {
    const before = viewsText(this.#serving.loaded);
    this.#serving = this.#publish(loaded);
    const after = viewsText(loaded);
    return after === before ? "" : `\n\n${after}\n`;
  }

  /** Writes the kubeconfig only where it differs: who has chosen another context in it keeps it over a reload. */
  #publish(loaded: Loaded): Serving {
    const { url, dir, credentials } = this.#site;
    const contexts = contextsOf(loaded, url);
    const path = join(dir, "admin.kubeconfig");
    const text = kubeconfig({ credentials, contexts, current: contexts[0]?.name ?? "" });
    if (text !== this.#written) writePrivately(path, text);
    this.#written = text;
    return { url, loaded, contexts, dir, kubeconfig: path };
  }
}
