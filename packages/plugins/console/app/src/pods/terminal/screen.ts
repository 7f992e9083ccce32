import "@xterm/xterm/css/xterm.css";
import { effect } from "@preact/signals";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { theme } from "../../ui/theme.ts";

export interface ScreenOptions {
  readonly host: HTMLElement;
  /** Name for screen readers. */
  readonly label: string;
  /** Without input there is no cursor, and line breaks are those of files. */
  readonly hasInput: boolean;
  readonly onInput: (text: string) => void;
  readonly onResize: (columns: number, rows: number) => void;
}

export interface Screen {
  write(bytes: Uint8Array, isError: boolean): void;
  /** Writes a line of the page itself. */
  note(text: string): void;
  focus(): void;
  /** Ends the input. What was written stays. */
  freeze(): void;
  readonly size: readonly [columns: number, rows: number];
  remove(): void;
}

/** Lines above the visible ones that the terminal keeps. */
const SCROLLBACK = 5_000;
const [RED, DIM, NORMAL] = ["31", "2", "0"].map((code) => `${String.fromCharCode(27)}[${code}m`);

/** A terminal in an element that has a size. */
export function createScreen({ host, label, hasInput, onInput, onResize }: ScreenOptions): Screen {
  const terminal = new Terminal({
    fontFamily: getComputedStyle(host).getPropertyValue("--mono"),
    fontSize: 13,
    scrollback: SCROLLBACK,
    convertEol: !hasInput,
    disableStdin: !hasInput,
    cursorBlink: false,
    // Colors of programs stay readable in the light scheme.
    minimumContrastRatio: 4.5,
    screenReaderMode: true,
    // Security: what a container prints opens no link.
    linkHandler: { activate: () => undefined },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(host);
  terminal.textarea?.setAttribute("aria-label", label);
  // The way out for users without a mouse.
  terminal.attachCustomKeyEventHandler(({ key, shiftKey }) => !(key === "Tab" && shiftKey));
  terminal.onData(onInput);
  terminal.onResize(({ cols, rows }) => onResize(cols, rows));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const applyColors = () => {
    terminal.options.theme = colorsOf(host);
  };
  const stopEffect = effect(() => {
    theme.value;
    // The page applies its scheme in an effect, too.
    queueMicrotask(applyColors);
  });
  dark.addEventListener("change", applyColors);
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(host);
  fit.fit();
  return {
    write: (bytes, isError) => {
      if (isError) terminal.write(RED ?? "");
      terminal.write(bytes);
      if (isError) terminal.write(NORMAL ?? "");
    },
    note: (text) => terminal.write(`\r\n${DIM}${text}${NORMAL}\r\n`),
    focus: () => terminal.focus(),
    freeze: () => {
      terminal.options.disableStdin = true;
    },
    get size() {
      return [terminal.cols, terminal.rows] as const;
    },
    remove: () => {
      stopEffect();
      dark.removeEventListener("change", applyColors);
      observer.disconnect();
      terminal.dispose();
    },
  };
}

/** The colors of the page, as the terminal takes them. */
function colorsOf(host: HTMLElement) {
  const { color, backgroundColor, outlineColor } = getComputedStyle(host);
  return {
    foreground: color,
    background: backgroundColor,
    cursor: color,
    cursorAccent: backgroundColor,
    selectionBackground: outlineColor,
  };
}
