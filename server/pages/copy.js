// Shows the button beside each licence key, which copies it. Where pages are read without https, browsers copy only what is selected.
for (const button of document.querySelectorAll('.copy button')) {
	const key = button.previousElementSibling, said = button.nextElementSibling;
	button.hidden = false;
	button.onclick = async () => {
		said.textContent = '';
		key.focus();
		key.select();
		try {
			await navigator.clipboard.writeText(key.value);
		} catch {
			if (!document.execCommand('copy')) return;
		}
		said.textContent = button.dataset.copied;
	};
}
