// The total is counted anew by the same form, without its card, when what the tax depends on has changed.
(function () {
	var form = document.getElementById('payment'), update = form.querySelector('button[value=update]'), latest = 0;
	var counted = ['country', 'state', 'postal_code', 'city', 'line1', 'tax_id'];
	update.hidden = true;
	form.addEventListener('change', function (event) {
		if (counted.indexOf(event.target.name) < 0) { return; }
		var sent = new URLSearchParams(), mine = ++latest;
		form.querySelectorAll(':scope > input[type=hidden]:not([name=payment_method], [name=do])').forEach(function (input) { sent.append(input.name, input.value); });
		counted.forEach(function (name) { sent.append(name, form.elements[name].value); });
		sent.append('do', 'update');
		fetch(form.action, {method: 'POST', body: sent}).then(function (answer) {
			if (!answer.ok) { throw answer.status; }
			return answer.text();
		}).then(function (text) {
			var page = new DOMParser().parseFromString(text, 'text/html');
			var parts = ['#totals', '#payment button.pay span', '#payment input[name=shown]'].map(function (part) { return page.querySelector(part); });
			if (mine !== latest) { return; } // another change is on its way
			if (!parts[0] || !parts[1] || !parts[2]) { throw 'The checkout has ended.'; }
			document.getElementById('totals').replaceChildren.apply(document.getElementById('totals'), parts[0].childNodes);
			form.querySelector('button.pay span').textContent = parts[1].textContent;
			document.querySelectorAll('input[name=shown]').forEach(function (input) { input.value = parts[2].value; });
			update.hidden = true;
		}).catch(function () { if (mine === latest) { update.hidden = false; } }); // the button says what is wrong
	});
})();
