// Why: the console is tested as users see it: Chromium, the page that the server serves, roles and names that screen readers read.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../../tools/install.mjs";
import { startChromium, type Tab } from "../../../docs-site/support/browser.ts";
import { startFirefox } from "./firefox.ts";

/** Tab of playwright-core, as far as these tests use it. */
export interface ConsoleTab extends Omit<Tab, "on"> {
  on: Tab["on"] & ((event: "websocket", listener: (socket: PageSocket) => void) => void);
  /** Answers requests of the page in its place. */
  route(url: RegExp, answer: (route: PageRoute) => Promise<void>): Promise<void>;
  /** Waits for the next file that the page saves. */
  waitForEvent(name: "download"): Promise<{ suggestedFilename(): string; path(): Promise<string> }>;
  locator(selector: string): ConsoleLocator;
  reload(): Promise<unknown>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  readonly keyboard: {
    press(key: string): Promise<void>;
    insertText(text: string): Promise<void>;
    /** Presses a key for each character. */
    type(text: string): Promise<void>;
  };
}

interface PageSocket {
  on(event: "framereceived", listener: (frame: { readonly payload: string | Buffer }) => void): void;
}

interface PageRoute {
  /** Sends the request. */
  fetch(): Promise<object>;
  fulfill(answer: { readonly response: object }): Promise<void>;
}

export interface ConsoleLocator {
  click(): Promise<void>;
  first(): ConsoleLocator;
  last(): ConsoleLocator;
  locator(selector: string): ConsoleLocator;
  waitFor(options?: { readonly state: "detached" | "visible" | "hidden" }): Promise<void>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  fill(text: string): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  count(): Promise<number>;
  getAttribute(name: string): Promise<string | null>;
  focus(): Promise<void>;
}

interface OwnBrowser {
  browserType(): { name(): string };
  newPage(options: {
    readonly viewport: { readonly width: number; readonly height: number };
    readonly ignoreHTTPSErrors: boolean;
    readonly permissions: readonly string[];
  }): Promise<ConsoleTab>;
  /** Opens a profile, whose tabs share their cookies. */
  newContext(options: {
    readonly ignoreHTTPSErrors: boolean;
  }): Promise<{ newPage(): Promise<ConsoleTab>; close(): Promise<void> }>;
  close(): Promise<void>;
}

/** Starts Chromium, or the browser in CONSOLE_BROWSER: `firefox`. Returns undefined where it cannot be had. */
export async function startBrowser(name = process.env["CONSOLE_BROWSER"]): Promise<OwnBrowser | undefined> {
  return (await (name === "firefox" ? startFirefox() : startChromium())) as OwnBrowser | undefined;
}

/** How Firefox reports a WebSocket that has ended, or could not be opened. */
const LOST = /^(Firefox can’t establish a connection to|The connection to) .*wss:/;

/** Faults of a tab: exceptions, violations of the content security policy, requests to other hosts. */
export class Faults {
  readonly #faults: string[] = [];

  constructor(tab: ConsoleTab, url: string) {
    tab.on("pageerror", ({ message }) => {
      if (!LOST.test(message)) this.#faults.push(message);
    });
    tab.on("console", (message) => {
      // Browsers report failed requests and connections: the page shows those that matter.
      if (message.type() === "error" && !/Failed to load resource|WebSocket connection/.test(message.text()))
        this.#faults.push(message.text());
    });
    tab.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host)
        this.#faults.push(`a request to ${request.url()}`);
    });
  }

  expectNone(): void {
    expect(this.#faults.splice(0).join("\n")).to.equal("");
  }
}

/** Opens a tab of a browser profile of its own. */
export async function openTab(
  browser: OwnBrowser,
  url: string,
  width = 1400,
): Promise<{ readonly tab: ConsoleTab; readonly faults: Faults }> {
  // Firefox has no permissions for the clipboard: a click may write to it.
  const permissions = browser.browserType().name() === "firefox" ? [] : ["clipboard-read", "clipboard-write"];
  const tab = await browser.newPage({ viewport: { width, height: 900 }, ignoreHTTPSErrors: true, permissions });
  const faults = new Faults(tab, url);
  await tab.goto(url);
  return { tab, faults };
}

/** Returns the serious and critical violations that axe finds, one line each. */
export async function axeFaults(tab: ConsoleTab): Promise<string[]> {
  await tab.evaluate(`(() => {${readFileSync(join(root, "tools/docs/node_modules/axe-core/axe.min.js"), "utf8")}})()`);
  return await tab.evaluate<string[]>(`axe.run(document).then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ": " + html + " " + (any[0]?.message ?? ""))))`);
}
