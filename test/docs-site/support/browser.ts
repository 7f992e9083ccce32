// Why: scripts of the site are tested in a browser, Debian's Chromium. It is installed with the site's own tools, which not
// every clone has, so this module imports it on demand, with local types.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { CHROMIUM_REMEDY, findChromium } from "../../../tools/chromium.mjs";
import { serveSite } from "../../../tools/docs/serve.mjs";
import { root } from "../../../tools/install.mjs";

const modules = join(root, "tools/docs/node_modules");

/** Locator of playwright-core. */
interface Locator {
  click(): Promise<void>;
  first(): Locator;
  waitFor(): Promise<void>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  fill(text: string): Promise<void>;
}

export interface Tab {
  goto(url: string): Promise<unknown>;
  url(): string;
  locator(selector: string): Locator;
  waitForURL(url: (url: URL) => boolean): Promise<void>;
  waitForFunction(script: string): Promise<unknown>;
  evaluate<T>(script: string): Promise<T>;
  emulateMedia(options: { readonly colorScheme: "light" | "dark" }): Promise<void>;
  on(event: "console", listener: (message: { type(): string; text(): string }) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  on(event: "request", listener: (request: { url(): string }) => void): void;
  on(event: "response", listener: (response: { url(): string; status(): number }) => void): void;
  close(): Promise<void>;
}

interface Browser {
  newPage(options: { readonly viewport: { readonly width: number; readonly height: number } }): Promise<Tab>;
  close(): Promise<void>;
}

const SWITCHES = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts Chromium, with further switches. Returns undefined, with a message on stderr, when it is unavailable; with CI set that is an error. */
export async function startChromium(switches: readonly string[] = []): Promise<Browser | undefined> {
  const found = findChromium();
  if (found === undefined) {
    if (process.env["CI"] !== undefined) throw new Error(CHROMIUM_REMEDY);
    process.stderr.write(`SKIPPED: ${CHROMIUM_REMEDY}\n`);
    return undefined;
  }
  const { chromium } = await import(pathToFileURL(join(modules, "playwright-core/index.mjs")).href);
  // Chromium creates a new profile in its own folder, and runs headless.
  return await chromium.launch({ executablePath: found.path, env: found.env, args: [...SWITCHES, ...switches] });
}

/** Tab on a site below `base`, with the errors that occurred in it. */
export class Visit implements AsyncDisposable {
  readonly url: string;
  readonly tab: Tab;
  readonly #faults: string[] = [];
  readonly #close: () => Promise<void>;

  private constructor(url: string, tab: Tab, close: () => Promise<void>) {
    this.url = url;
    this.tab = tab;
    this.#close = close;
    tab.on("pageerror", ({ message }) => this.#faults.push(message));
    tab.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.#faults.push(message.text());
    });
    tab.on("response", (response) => {
      if (response.status() >= 400) this.#faults.push(`${response.status()} ${response.url()}`);
    });
    tab.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
        this.#faults.push(`asked for ${request.url()}, which is not on the site`);
    });
  }

  static async at(browser: Browser, folder: string, { base = "/", width = 1400 } = {}): Promise<Visit> {
    const served = await serveSite({ folder, port: 0, base });
    const tab = await browser.newPage({ viewport: { width, height: 900 } });
    return new Visit(served.url, tab, served.close);
  }

  /** Opens a page and waits until its scripts run. They go on loading the pages that it links to, which takes long on a busy machine. */
  async open(page: string): Promise<void> {
    await this.tab.goto(this.url + page);
    await this.tab.waitForFunction(`document.querySelector("#app").__vue_app__ !== undefined`);
  }

  /** Clicks a link and waits for its target page. */
  async follow(selector: string, page: string): Promise<void> {
    await this.tab.locator(selector).first().click();
    await this.tab.waitForURL((url) => url.href.split("#")[0] === this.url + page);
  }

  heading(): Promise<string> {
    return this.tab.locator(".vp-doc h1").innerText();
  }

  /** Returns the serious and critical violations that axe finds, one line each. */
  async axe(axeSource: string): Promise<string[]> {
    await this.tab.evaluate(axeSource);
    return await this.tab.evaluate<string[]>(`axe.run(document).then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ": " + html + " " + (any[0]?.message ?? ""))))`);
  }

  expectNoFaults(): void {
    expect(this.#faults.join("\n")).to.equal("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tab.close();
    await this.#close();
  }
}
