// Browsers start no workers for pages that are opened from a folder. There the theme's search runs
// in a hidden frame, which has the same interface: messages to it and from it.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.waiting = [];  // messages until the script in the frame has run
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = data => setTimeout(  // later, as from a worker
        () => this.onmessage && this.onmessage(new MessageEvent("message", {data})));
      const script = inside.document.createElement("script");
      script.src = new URL(address, document.baseURI);
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach(data => this.postMessage(data));
      };
      inside.document.head.appendChild(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}
