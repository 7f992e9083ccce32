/**
 * An element in place of a `style` element, which the content security policy of the page forbids: its text becomes a constructed
 * stylesheet of the document. The build puts it into xterm.js (see vite.config.ts).
 */
export function createStyle(): HTMLElement {
  const element = document.createElement("template");
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}

/** Sets the style of an element by its properties: the policy forbids the attribute. */
export function setStyle(element: HTMLElement, text: string): void {
  element.style.cssText = text;
}
