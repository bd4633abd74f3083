import { expect, test, vi } from "vitest";
import { behaviours, bind } from "./behaviours.ts";

// htmx wants more of a browser than there is here.
vi.mock("htmx.org", () => ({ default: {} }));

test("an element gets its behaviour once, however often it is bound", () => {
  const told = vi.fn();
  behaviours["of-the-test"] = told;
  document.body.innerHTML = '<div data-behaviour="of-the-test"><p></p></div>';
  bind(document);
  bind(document.body);
  expect(told).toHaveBeenCalledTimes(1);
});

test("an element that a swap brought is bound itself", () => {
  const told = vi.fn();
  behaviours["of-the-test"] = told;
  const element = document.createElement("div");
  element.dataset.behaviour = "of-the-test";
  bind(element);
  expect(told).toHaveBeenCalledWith(element);
});

test("a behaviour that nobody knows is an error by name", () => {
  document.body.innerHTML = '<div data-behaviour="telepathy"></div>';
  expect(() => bind(document)).toThrow("telepathy");
});
